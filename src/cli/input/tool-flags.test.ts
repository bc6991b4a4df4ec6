import { expect, test } from 'vitest'
import type { OptionRow } from '../manual/rows.ts'
import { splitFlags } from './tool-flags.ts'

const rows: readonly OptionRow[] = [
  { name: 'timeout', value: 'TIME', meaning: '' },
  { name: 'json', meaning: '' },
  { name: 'quiet', short: 'q', meaning: '' },
]

test.each([
  [
    ['u', 't', '--a', '1', '--b=x=y'],
    ['u', 't', 'a=1', 'b=x=y'],
  ],
  [
    ['u', 't', '--a', '-1.5', '--on'],
    ['u', 't', 'a=-1.5', 'on=true'],
  ],
  [
    ['u', 't', '--on', 'a=1', '--json'],
    ['u', 't', 'on=true', 'a=1', '--json'],
  ],
  [
    ['u', 't', '--on', '--timeout', '5', '-q', 'a:=1'],
    ['u', 't', 'on=true', '--timeout', '5', '-q', 'a:=1'],
  ],
  [
    ['--timeout', '5', 'u', 't', '--a', '{"b":1}'],
    ['--timeout', '5', 'u', 't', 'a={"b":1}'],
  ],
  [
    ['u', '--a', '1', 't'],
    ['u', '--a', '1', 't'],
  ],
])('%j becomes %j', (given, expected) => {
  expect(splitFlags(given, rows, 2).argv).toEqual(expected)
})

test('names the flags', () => {
  expect([...splitFlags(['t', '--a', '1', 'b=2', '--c'], rows, 1).flags]).toEqual(['a', 'c'])
})
