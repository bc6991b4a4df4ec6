import { expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { metaFindings } from './features.ts'

const entries = [
  { name: 'a', _meta: { 'com.example/x': 1, plain: 1, 'io.modelcontextprotocol/related-task': 1 } },
  { name: 'b', _meta: { 'io.modelcontextprotocol/mine': 1, 'mcp.dev/x': 1, 'a b': 1 } },
  { name: 'c', _meta: 'no object' },
]

test.each([
  ['none', []],
  [
    'any label',
    ['"mcp.dev/x" in tools/list has a prefix', '"a b" in tools/list is invalid: its name'],
  ],
  [
    'second label',
    ['"io.modelcontextprotocol/mine" in tools/list has a prefix', '"a b" in tools/list is invalid'],
  ],
] as const)('checks _meta keys, with prefixes reserved by %s', (rule, seen) => {
  proves('B11', 'B12', 'B12b')
  const findings = metaFindings('tools/list', entries, rule)
  expect(findings.map(({ message }) => message)).toEqual(
    seen.map(text => expect.stringContaining(text)),
  )
  expect(findings.every(({ status, advice }) => status === 'warn' && advice !== '')).toBe(true)
})
