import { expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { metaFindings } from './meta.ts'

const entries = [
  { name: 'a', _meta: { 'com.example/x': 1, plain: 1, 'io.modelcontextprotocol/related-task': 1 } },
  { name: 'b', _meta: { 'io.modelcontextprotocol/mine': 1, 'mcp.dev/x': 1, 'a b': 1 } },
  { name: 'c', _meta: 'no object' },
]

test.each([
  ['none', []],
  [
    'any label',
    ['"mcp.dev/x" in tools/list has a prefix', '"a b" in tools/list is none: its name'],
  ],
  [
    'second label',
    ['"io.modelcontextprotocol/mine" in tools/list has a prefix', '"a b" in tools/list is none'],
  ],
] as const)('keys of _meta, where prefixes are reserved by %s', (rule, seen) => {
  proves('B11', 'B12', 'B12b')
  const findings = metaFindings('tools/list', entries, rule)
  expect(findings.map(({ saw }) => saw)).toEqual(seen.map(words => expect.stringContaining(words)))
  expect(findings.every(({ verdict, advice }) => verdict === 'warn' && advice !== '')).toBe(true)
})
