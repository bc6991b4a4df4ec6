import { describe, expect, test } from 'vitest'
import { constantTimeEqual, copyKeys } from './keys.ts'

describe('a list of keys', () => {
  test('is one random key where none are given', () => {
    const [[a], [b]] = [copyKeys(), copyKeys()]
    expect(a).toHaveLength(32)
    expect(a).not.toEqual(b)
  })

  test('is a copy, in the same order', () => {
    const keys = [new Uint8Array(32).fill(1), new Uint8Array(40).fill(2)]
    const ring = copyKeys(keys)
    for (const key of keys) key.fill(0)
    expect(ring).toEqual([new Uint8Array(32).fill(1), new Uint8Array(40).fill(2)])
  })

  test.each([
    ['nothing', [], 'must not be empty'],
    ['31 bytes', [new Uint8Array(31)], 'at least 32 bytes (got 31)'],
    ['a short one after a long one', [new Uint8Array(32), new Uint8Array(0)], 'got 0'],
  ])('is not made of %s', (_, keys, words) => {
    expect(() => copyKeys(keys)).toThrow(TypeError)
    expect(() => copyKeys(keys)).toThrow(words)
  })
})

test.each([
  [[], [], true],
  [[1, 2], [1, 2], true],
  [[1, 2], [1, 3], false],
  [[1, 2], [0, 2], false],
  [[1, 2], [1], false],
  [[1], [1, 2], false],
  [[1, 0], [1], false],
  [[1], [1, 0], false],
])('%j and %j are the same: %s', (a, b, same) => {
  expect(constantTimeEqual(Uint8Array.from(a), Uint8Array.from(b))).toBe(same)
})
