import { expect, test } from 'vitest'
import { isRecord, stringsIn } from './record.ts'

test.each([
  [{}, true],
  [{ a: 1 }, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [undefined, false],
  ['x', false],
  [() => {}, false],
])('whether %s is an object with members: %s', (value, expected) => {
  expect(isRecord(value)).toBe(expected)
})

test('the strings of a list are those in it, and what is no list has none', () => {
  expect(stringsIn(['a', 1, 'b', null])).toEqual(['a', 'b'])
  expect(stringsIn('a')).toBeUndefined()
})
