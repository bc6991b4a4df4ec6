import { describe, expect, test } from 'vitest'
import { argumentProblem } from './compare.ts'
import { encodeHeader } from './encoding.ts'

const mirrored = new Map([
  ['Mcp-Param-Region', ['region']],
  ['Mcp-Param-Count', ['limits', 'count']],
  ['Mcp-Param-Dry', ['dry']],
])

function problem(given: unknown, headers: Record<string, string>): string | undefined {
  return argumentProblem(mirrored, given, headers)
}

describe('headers that agree with the arguments', () => {
  const rows: readonly (readonly [string, unknown, Record<string, string>])[] = [
    ['nothing of both', {}, {}],
    ['no arguments at all', undefined, {}],
    ['a text', { region: 'eu' }, { 'mcp-param-region': 'eu' }],
    ['an empty text', { region: '' }, { 'mcp-param-region': '' }],
    ['space around the header', { region: 'eu' }, { 'mcp-param-region': ' eu\t' }],
    [
      'a text in Base64',
      { region: 'österreich' },
      { 'mcp-param-region': encodeHeader('österreich') },
    ],
    ['a text that needs no Base64', { region: 'eu' }, { 'mcp-param-region': '=?base64?ZXU=?=' }],
    ['null', { region: null }, {}],
    ['a number', { limits: { count: 42 } }, { 'mcp-param-count': '42' }],
    ['the same number', { limits: { count: 42 } }, { 'mcp-param-count': '42.0' }],
    ['a negative number', { limits: { count: -7 } }, { 'mcp-param-count': '-7' }],
    ['a boolean', { dry: false }, { 'mcp-param-dry': 'false' }],
    ['what no header carries', { region: { a: 1 }, limits: { count: 1.5 } }, {}],
    [
      'a header that stands for nothing',
      { region: 'eu' },
      { 'mcp-param-region': 'eu', 'mcp-param-x': 'y' },
    ],
    ['a name that objects inherit', { toString: 'x' }, {}],
  ]

  test.each(rows)('%s', (_, given, headers) => {
    expect(problem(given, headers)).toBeUndefined()
  })
})

describe('headers that do not agree with the arguments', () => {
  const rows: readonly (readonly [string, unknown, Record<string, string>, string])[] = [
    ['missing', { region: 'eu' }, {}, 'the header Mcp-Param-Region is missing'],
    ['another text', { region: 'eu' }, { 'mcp-param-region': 'us' }, 'Region is not the argument'],
    ['another case', { region: 'eu' }, { 'mcp-param-region': 'EU' }, 'Region is not the argument'],
    ['a text for null', { region: null }, { 'mcp-param-region': 'null' }, 'is not the argument'],
    ['a text for nothing', {}, { 'mcp-param-region': 'eu' }, 'is not the argument'],
    ['twice', { region: 'eu' }, { 'mcp-param-region': 'eu, eu' }, 'is not the argument'],
    ['bad padding', { region: 'a' }, { 'mcp-param-region': '=?base64?YQ?=' }, 'not well encoded'],
    [
      'another number',
      { limits: { count: 1 } },
      { 'mcp-param-count': '2' },
      'argument limits.count',
    ],
    ['no number', { limits: { count: 0 } }, { 'mcp-param-count': '' }, 'argument limits.count'],
    ['another writing', { limits: { count: 16 } }, { 'mcp-param-count': '0x10' }, 'limits.count'],
    [
      'a number that is equal only after rounding',
      { limits: { count: 9_007_199_254_740_992 } },
      { 'mcp-param-count': '9007199254740993' },
      'limits.count',
    ],
    ['another boolean', { dry: true }, { 'mcp-param-dry': 'True' }, 'argument dry'],
    ['a text for an object', { region: {} }, { 'mcp-param-region': '[object Object]' }, 'region'],
  ]

  test.each(rows)('%s', (_, given, headers, words) => {
    expect(problem(given, headers)).toContain(words)
  })
})
