import assert from 'node:assert/strict'
import { Automaton } from '../../../src/mcp/regex/nfa.ts'
import { parsePattern } from '../../../src/mcp/regex/parse.ts'
import { compilePattern, type Pattern } from '../../../src/mcp/regex/pattern.ts'
import { WorkBudget, WorkExceeded } from '../../../src/mcp/regex/work-budget.ts'
import { limits } from '../../../src/util/limits/limits.ts'
import type { Random } from '../random.ts'
import { target } from '../target.ts'

const atoms = [
  'a',
  'b',
  '.',
  '\\d',
  '\\w',
  '[ab]',
  '[^a]',
  '[\\]\\-a]',
  '\\.',
  'é',
  '\\u0061',
  '\\x62',
  '^',
  '$',
  '\\b',
  '[]',
] as const
const times = ['', '', '', '*', '+', '?', '*?', '{2}', '{0,2}', '{1,}', '{0}'] as const
const letters = ['a', 'b', '1', '.', ' ', '\n', 'é'] as const
const noise = [
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '\\',
  '|',
  '\\1',
  '(?<=',
  '(?<n>',
  '\\p{L}',
  '\\k<n>',
  '\\B',
]

/**
 * Patterns of schemas. On the subset that both can run, the automaton agrees with RegExp on short
 * texts; any other source compiles or throws an Error, and a compiled one tests every text.
 */
export const patternTarget = target(
  'pattern',
  random => {
    const source = expression(random, 3)
    return {
      source,
      // Inserted instead of mutated, so that the source stays well-formed Unicode.
      broken: broken(random, source),
      texts: Array.from({ length: 4 }, () => text(random, random.int(9))),
      long: `${text(random, 3).repeat(random.int(2000))}!`,
    }
  },
  ({ source, broken, texts, long }) => {
    const native = new RegExp(source, 'u')
    const automaton = new Automaton(parsePattern(source, true).root, 'u')
    const pattern = compiled(source)
    for (const each of texts) {
      const expected = native.test(each)
      assert.equal(automaton.test(each, budget()), expected, JSON.stringify(each))
      if (pattern !== undefined)
        assert.equal(pattern.test(each, budget()), expected, JSON.stringify(each))
    }
    tried(pattern, long)
    const other = compiled(broken)
    for (const each of [...texts, long]) tried(other, each)
  },
)

function budget(): WorkBudget {
  const made = new WorkBudget()
  made.renew(limits.schemaWork.default)
  return made
}

/** Tests a text, which gives a result or takes too much work. */
function tried(pattern: Pattern | undefined, text: string): void {
  try {
    assert.equal(typeof (pattern?.test(text, budget()) ?? false), 'boolean')
  } catch (error) {
    assert.ok(error instanceof WorkExceeded, String(error))
  }
}

function expression(random: Random, depth: number): string {
  const choices = Array.from({ length: random.once(4) ? 2 : 1 }, () =>
    Array.from({ length: random.int(4) }, () => piece(random, depth)).join(''),
  )
  return choices.join('|')
}

function piece(random: Random, depth: number): string {
  if (depth === 0 || !random.once(3)) {
    const atom = random.pick(atoms)
    return /^(?:\^|\$|\\b)$/.test(atom) ? atom : atom + random.pick(times)
  }
  const open = random.pick(['(', '(?:', '(?=', '(?!'])
  const isLook = open === '(?=' || open === '(?!'
  return `${open}${expression(random, depth - 1)})${isLook ? '' : random.pick(times)}`
}

function broken(random: Random, source: string): string {
  const at = random.int(source.length + 1)
  return source.slice(0, at) + noise[random.int(noise.length)] + source.slice(at + random.int(2))
}

function text(random: Random, length: number): string {
  return Array.from({ length }, () => random.pick(letters)).join('')
}

function compiled(source: string): Pattern | undefined {
  try {
    return compilePattern(source)
  } catch (error) {
    assert.ok(error instanceof Error && !(error instanceof TypeError), `${error}`)
    assert.ok(!(error instanceof RangeError), `${error}`)
    return undefined
  }
}
