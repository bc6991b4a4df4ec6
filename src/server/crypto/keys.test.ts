import { describe, expect, test } from 'vitest'
import { isSame, secretsOf } from './keys.ts'

describe('a ring of keys', () => {
  test('is one random secret where none are given', () => {
    const [[a], [b]] = [secretsOf(), secretsOf()]
    expect(a).toHaveLength(32)
    expect(a).not.toEqual(b)
  })

  test('is a copy, in the same order', () => {
    const keys = [new Uint8Array(32).fill(1), new Uint8Array(40).fill(2)]
    const ring = secretsOf(keys)
    for (const key of keys) key.fill(0)
    expect(ring).toEqual([new Uint8Array(32).fill(1), new Uint8Array(40).fill(2)])
  })

  test.each([
    ['nothing', [], 'needs at least one'],
    ['31 bytes', [new Uint8Array(31)], '32 bytes or more, not 31'],
    ['a short one behind a long one', [new Uint8Array(32), new Uint8Array(0)], 'not 0'],
  ])('is not made of %s', (_, keys, words) => {
    expect(() => secretsOf(keys)).toThrow(TypeError)
    expect(() => secretsOf(keys)).toThrow(words)
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
  expect(isSame(Uint8Array.from(a), Uint8Array.from(b))).toBe(same)
})
