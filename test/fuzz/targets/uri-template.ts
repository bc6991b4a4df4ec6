import assert from 'node:assert/strict'
import { parseTemplate, type UriTemplate } from '../../../src/mcp/uri-template/template.ts'
import type { Random } from '../random.ts'
import { target } from '../target.ts'

const literals = ['db://users/', '/', 'a', '.', '..', '%41', '%4', 'é', '?q=', '&', '#', '}', ' ']
const texts = ['a', 'b.c', '', '..', '.', 'x/y', 'é😀', 'a b', '%', '\0', '\ud800', '?', ',', ';=&']

type Value = string | number | boolean | null | readonly string[] | Readonly<Record<string, string>>

/**
 * URI templates: parsing and expanding throw nothing but TypeErrors, matching throws nothing, and the
 * values found in a URI expand to a URI that matches again.
 */
export const uriTemplateTarget = target(
  'uri-template',
  random => ({
    text: hostile(random),
    values: valuesOf(random),
    uri: madeUri(random),
    plain: random.pick(unambiguous),
    texts: { a: one(random, texts), b: one(random, texts), c: one(random, texts) },
  }),
  ({ text, values, uri, plain, texts }) => {
    checkFound(parseTemplate(plain), texts)
    const template = attempt(() => parseTemplate(text))
    if (template === undefined) return
    check(template, uri)
    const expanded = attempt(() => template.expand(values))
    if (expanded !== undefined) check(template, expanded)
  },
)

/** Templates whose literals separate the values. */
const unambiguous = [
  'db://x/{a}/{b}/{c}',
  'db://x/{a}/b{?b,c}',
  'db://x{/a,b}{?c}',
  'db://x/{a}{;b}/c{&c}',
  'db://x/{a}/{b}{#c}',
] as const

/** Checks that the values of an unambiguous template are found in the URI that they expand to. */
function checkFound(template: UriTemplate, values: Readonly<Record<string, string>>): void {
  const uri = attempt(() => template.expand(values))
  const isFindable = Object.values(values).every(
    value => value !== '' && !/\0|^\.{1,2}$|%/.test(value),
  )
  if (uri === undefined || !isFindable) return
  assert.deepEqual({ ...template.match(uri) }, values)
}

/** Checks that the values found in a URI are values of the template, and lead back to themselves. */
function check(template: UriTemplate, uri: string): void {
  const found = template.match(uri)
  if (found === undefined) return
  assert.equal(Object.getPrototypeOf(found), null)
  for (const [name, value] of Object.entries(found)) {
    assert.ok(template.variables.includes(name))
    for (const one of [value].flat()) assert.ok(!one.includes('\0') && one.isWellFormed())
  }
  // Values that were found in a path never leave it, so expanding them may fail only for segments
  // that dots of several values make up together.
  const again = attempt(() => template.expand(found))
  // Optional values and prefixes can be found in several ways, and a variable in one position only.
  const names = template.text.match(/[\w.%]+(?=[^{]*\})/g) ?? []
  const isSimple = new Set(names).size === names.length && !/\{[?&;#]|:\d/.test(template.text)
  if (again === undefined || !isSimple) return
  assert.notEqual(template.match(again), undefined, `${again} no longer matches`)
}

function hostile(random: Random): string {
  const parts = Array.from({ length: random.int(6) }, () =>
    random.once(2) ? one(random, literals) : expression(random),
  )
  const text = `db://x/${parts.join('')}`
  return random.once(6) ? Buffer.from(random.mutate(Buffer.from(text))).toString() : text
}

function expression(random: Random): string {
  const operator = random.pick(['', '', '+', '#', '.', '/', ';', '?', '&', '=', '!'])
  const variables = Array.from({ length: 1 + random.int(3) }, () => {
    const name = random.pick(['a', 'b', 'c', 'a.b', '%41', 'constructor', '__proto__', '', '-'])
    return name + random.pick(['', '', '', '*', ':1', ':3', ':0', ':99999'])
  })
  return `{${operator}${variables.join(',')}}`
}

function valuesOf(random: Random): Readonly<Record<string, Value>> {
  const names = ['a', 'b', 'c', 'a.b', '%41', 'constructor']
  return Object.fromEntries(names.map(name => [name, madeValue(random)]))
}

function madeValue(random: Random): Value {
  const kind = random.int(8)
  if (kind === 0) return random.pick([1, true, null, Number.NaN])
  if (kind === 1) return Array.from({ length: random.int(3) }, () => one(random, texts))
  if (kind === 2) return { [one(random, texts)]: one(random, texts) }
  return one(random, texts)
}

function madeUri(random: Random): string {
  const pieces = [...literals, ...texts, 'a=', 'b=1', ';a=1', '?a=%2e', '%2F', '%00', '%ff']
  return `db://x/${Array.from({ length: random.int(10) }, () => one(random, pieces)).join('')}`
}

function one(random: Random, choices: readonly string[]): string {
  return choices[random.int(choices.length)] ?? ''
}

/** Returns undefined if the function throws a TypeError, which is what it documents. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    assert.ok(error instanceof TypeError && !/^Cannot /.test(error.message), `${error}`)
    return undefined
  }
}
