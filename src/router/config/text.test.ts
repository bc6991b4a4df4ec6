import { describe, expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { type ConfigNode, readConfigText } from './text.ts'

describe('a valid text', () => {
  test('comments, trailing commas and a byte order mark are accepted', () => {
    const { root, issues } = readConfigText('\uFEFF// one\n{ /* two */ "a": [1, 2,], }\n// three')
    expect(issues).toEqual([])
    expect(plain(root)).toEqual({ a: [1, 2] })
  })

  test('every value has its line and column, with all kinds of line ends', () => {
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

  test('names that objects inherit are ordinary names', () => {
    const { root } = readConfigText('{"__proto__": 1, "constructor": 2}')
    expect(root?.type === 'object' && [...root.members.keys()]).toEqual([
      '__proto__',
      'constructor',
    ])
  })
})

describe('an invalid text', () => {
  const cases: readonly [name: string, text: string, place: string, message: RegExp][] = [
    ['nothing at all', '', '1:1', /empty/],
    ['white space', ' \n ', '1:1', /empty/],
    ['only a comment', '// later', '1:9', /expected a value/],
    ['a missing comma', '{\n  "a": 1\n  "b": 2\n}', '3:3', /expected a comma/],
    ['a missing colon', '{"a" 1}', '1:6', /expected a colon/],
    ['a missing value', '{"a": }', '1:7', /expected a value/],
    ['single quotes', "{'a': 1}", '1:2', /double quotes/],
    ['a bare name', '{a: 1}', '1:2', /double quotes/],
    ['two commas', '{"a": 1,, "b": 2}', '1:9', /expected a member name/],
    ['an open brace', '{"a": 1', '1:8', /closing }/],
    ['an open brace and empty lines', '{"a": 1\n\n  \n', '1:8', /ends too early: .*closing }/],
    ['an open bracket', '{"a": [1', '1:9', /closing ]/],
    ['an open string', '{"a": "x\n}', '1:7', /closing quote/],
    ['an open comment', '{} /* x', '1:4', /unterminated comment/],
    ['a bad escape', '{"a": "C:\\dir"}', '1:7', /backslash/],
    ['bad digits', '{"a": "\\u00g0"}', '1:7', /hexadecimal/],
    ['a control character', '{"a": "\u0001"}', '1:7', /control character/],
    ['a JavaScript literal', '{"a": NaN}', '1:7', /invalid JSON/],
    ['more after the end', '{} {}', '1:4', /unexpected content/],
  ]

  test.each(cases)('%s', (_, text, place, message) => {
    const { root, issues } = readConfigText(text)
    const [first] = issues
    expect(root).toBeUndefined()
    expect(`${first?.line}:${first?.column}`).toBe(place)
    expect(first?.message).toMatch(message)
    expect(first?.severity).toBe('error')
  })

  test('errors on several lines are reported together, one per line', () => {
    const { issues } = readConfigText('{\n"a": tru,\n"b": 1\n"c": 2,\n"d": fals\n}')
    expect(issues.map(issue => issue.line)).toEqual([2, 4, 5])
  })

  test('a caret marks the position, in long lines too', () => {
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

  test('a duplicate name is an error that names the first', () => {
    const { root, issues } = readConfigText('{"s": {\n"a": 1,\n"a": 2}}')
    expect(root).toBeUndefined()
    expect(issues).toEqual([
      {
        severity: 'error',
        path: 's.a',
        line: 3,
        column: 1,
        message: '"a" is a duplicate; it is first defined on line 2',
      },
    ])
  })
})

describe('limits', () => {
  const max = limits.configDepth.default

  test('a nesting depth up to the limit is accepted, and one more level is rejected where it starts', () => {
    expect(readConfigText('['.repeat(max) + ']'.repeat(max)).issues).toEqual([])
    const [issue] = readConfigText('['.repeat(max + 1) + ']'.repeat(max + 1)).issues
    expect(issue).toMatchObject({ line: 1, column: max + 1 })
    expect(issue?.message).toContain(`${max}`)
  })

  test('extreme depth is rejected without a stack overflow', () => {
    expect(readConfigText('{"a":['.repeat(100_000)).issues).toHaveLength(1)
  })

  test('a text over the limit is rejected before it is parsed', () => {
    const [issue] = readConfigText(' '.repeat(limits.configBytes.default + 1)).issues
    expect(issue?.message).toContain('larger than 1048576 bytes')
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
