import { expect, test } from 'vitest'
import { slotOf, slotRanges } from './slots.ts'

// The check value of CRC-16/XMODEM is 0x31c3; the others are replies of an engine to CLUSTER KEYSLOT.
test.each([
  ['123456789', 0x31c3],
  ['foo', 12_182],
  ['{foo}bar', 12_182],
  ['a{foo}b{c}', 12_182],
  ['tl:x:{k:größe}', slotOf('k:größe')],
])('the slot of %s', (key, slot) => {
  expect(slotOf(key)).toBe(slot)
})

test('an empty or open part in braces does not count', () => {
  expect(slotOf('{}foo')).not.toBe(slotOf(''))
  expect(slotOf('{foo')).not.toBe(slotOf('foo'))
})

test('an engine that does not know its host is where it was asked', () => {
  const reply = [
    [0, 99, ['10.0.0.1', 7000, 'id'], ['10.0.0.2', 7001, 'replica']],
    [100, 16_383, ['', 7002, 'id']],
  ]
  expect(slotRanges(reply, 'asked')).toEqual([
    { first: 0, last: 99, host: '10.0.0.1', port: '7000' },
    { first: 100, last: 16_383, host: 'asked', port: '7002' },
  ])
})
