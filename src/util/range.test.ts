import { describe, expect, test } from 'vitest'
import { checkRange, type Range } from './range.ts'

const endless = Number.POSITIVE_INFINITY

describe('checkRange', () => {
  test.each<[string, number, Range]>([
    ['the minimum', 1, { min: 1, max: 3 }],
    ['the maximum', 3, { min: 1, max: 3 }],
    ['a fraction where no integer is needed', 0.5, { min: 0, max: 1 }],
    ['Infinity where there is no maximum', endless, { min: 1, integer: true }],
  ])('accepts %s', (_, value, range) => {
    expect(checkRange('x', value, range)).toBe(value)
  })

  test.each<[string, unknown, Range, string]>([
    ['a number that is too small', 0, { min: 1 }, 'x must be a number ≥ 1 (got 0)'],
    ['a number that is too large', 2, { min: 0, max: 1 }, 'x must be a number from 0 to 1 (got 2)'],
    ['a fraction', 1.5, { min: 1, integer: true }, 'x must be an integer ≥ 1 (got 1.5)'],
    ['NaN', Number.NaN, { min: 0 }, 'x must be a number ≥ 0 (got NaN)'],
    ['a string', '5', { min: 0 }, 'x must be a number ≥ 0 (got 5)'],
  ])('names the setting when it rejects %s', (_, value, range, message) => {
    expect(() => checkRange('x', value as number, range)).toThrow(new RangeError(message))
  })
})
