import { describe, expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { type ConfigNode, readConfigText } from './text.ts'

describe('a text that can be read', () => {
  test('comments, trailing commas and a byte order mark are fine', () => {
    const { root, issues } = readConfigText('\uFEFF// one\n{ /* two */ "a": [1, 2,], }\n// three')
    expect(issues).toEqual([])
    expect(plain(root)).toEqual({ a: [1, 2] })
  })

  test('every value knows its line and column, whatever ends the lines', () => {
    const { root } = readConfigText('{\r\n  "a": {\n\t"b": [true,\r null]}}')
    const a = member(root, 'a')
    const b = member(a, 'b')
    expect(root?.at).toEqual({ line: 1, column: 1 })
    expect(a?.at).toEqual({ line: 2, column: 8 })
    expect(b?.at).toEqual({ line: 3, column: 7 })
    expect(b?.type === 'list' && b.items.map(item => item.at)).toEqual([
      { line: 3, column: 8 },
      { line: 4, column: 2 },
    ])
  })

  test('names that objects inherit are names like others', () => {
    const { root } = readConfigText('{"__proto__": 1, "constructor": 2}')
    expect(root?.type === 'object' && [...root.members.keys()]).toEqual([
      '__proto__',
      'constructor',
    ])
  })
})

describe('a text that cannot be read', () => {
  const cases: readonly [name: string, text: string, place: string, words: RegExp][] = [
    ['nothing at all', '', '1:1', /empty/],
    ['white space', ' \n ', '1:1', /empty/],
    ['only a comment', '// later', '1:9', /value is missing/],
    ['a missing comma', '{\n  "a": 1\n  "b": 2\n}', '3:3', /comma is missing/],
    ['a missing colon', '{"a" 1}', '1:6', /colon is missing/],
    ['a missing value', '{"a": }', '1:7', /value is missing/],
    ['single quotes', "{'a': 1}", '1:2', /double quotes/],
    ['a bare name', '{a: 1}', '1:2', /double quotes/],
    ['two commas', '{"a": 1,, "b": 2}', '1:9', /name of a member/],
    ['an open brace', '{"a": 1', '1:8', /closing }/],
    ['an open bracket', '{"a": [1', '1:9', /closing ]/],
    ['an open string', '{"a": "x\n}', '1:7', /closing quote/],
    ['an open comment', '{} /* x', '1:4', /comment has no end/],
    ['a bad escape', '{"a": "C:\\dir"}', '1:7', /backslash/],
    ['bad digits', '{"a": "\\u00g0"}', '1:7', /hexadecimal/],
    ['a control character', '{"a": "\u0001"}', '1:7', /control character/],
    ['a word of JavaScript', '{"a": NaN}', '1:7', /no JSON/],
    ['more after the end', '{} {}', '1:4', /goes on/],
  ]

  test.each(cases)('%s', (_, text, place, words) => {
    const { root, issues } = readConfigText(text)
    const [first] = issues
    expect(root).toBeUndefined()
    expect(`${first?.line}:${first?.column}`).toBe(place)
    expect(first?.message).toMatch(words)
    expect(first?.severity).toBe('error')
  })

  test('errors on several lines are told together, one for each line', () => {
    const { issues } = readConfigText('{\n"a": tru,\n"b": 1\n"c": 2,\n"d": fals\n}')
    expect(issues.map(issue => issue.line)).toEqual([2, 4, 5])
  })

  test('a caret shows the place, in long lines too', () => {
    const [short] = readConfigText('{\n\t"a" 1}').issues
    expect(short?.excerpt).toBe('   "a" 1}\n       ^')
    const [long] = readConfigText(`{"a": "${'x '.repeat(200)}" 1 }`).issues
    const [line = '', caret = ''] = long?.excerpt?.split('\n') ?? []
    expect(line.length).toBeLessThan(100)
    expect(line[caret.indexOf('^')]).toBe('1')
  })

  test('what looks like a key is not in the excerpt', () => {
    const [issue] = readConfigText('{"token": "sk-live-0123456789abcdef" "b": 1}').issues
    expect(issue?.excerpt).not.toContain('0123456789')
    expect(issue?.excerpt).toContain('"token"')
  })

  test('a name that is given twice is an error that names the first', () => {
    const { root, issues } = readConfigText('{"s": {\n"a": 1,\n"a": 2}}')
    expect(root).toBeUndefined()
    expect(issues).toEqual([
      {
        severity: 'error',
        path: 's.a',
        line: 3,
        column: 1,
        message: '"a" is given twice; the first is on line 2',
      },
    ])
  })
})

describe('limits', () => {
  const most = limits.configDepth.default

  test('as deep as the limit is fine, one more is refused where it begins', () => {
    expect(readConfigText('['.repeat(most) + ']'.repeat(most)).issues).toEqual([])
    const [issue] = readConfigText('['.repeat(most + 1) + ']'.repeat(most + 1)).issues
    expect(issue).toMatchObject({ line: 1, column: most + 1 })
    expect(issue?.message).toContain(`${most}`)
  })

  test('depth that no parser would survive is refused like any other', () => {
    expect(readConfigText('{"a":['.repeat(100_000)).issues).toHaveLength(1)
  })

  test('a text over the limit is refused before it is parsed', () => {
    const [issue] = readConfigText(' '.repeat(limits.configBytes.default + 1)).issues
    expect(issue?.message).toContain('longer than 1048576 bytes')
  })
})

function member(node: ConfigNode | undefined, name: string): ConfigNode | undefined {
  return node?.type === 'object' ? node.members.get(name)?.value : undefined
}

function plain(node: ConfigNode | undefined): unknown {
  if (node === undefined || node.type === 'null') return null
  if (node.type === 'list') return node.items.map(plain)
  if (node.type !== 'object') return node.value
  return Object.fromEntries(Array.from(node.members, ([name, { value }]) => [name, plain(value)]))
}
