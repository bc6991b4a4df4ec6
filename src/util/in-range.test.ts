import { describe, expect, test } from 'vitest'
import { checked, type Range } from './in-range.ts'

const endless = Number.POSITIVE_INFINITY

describe('a number of the configuration', () => {
  test.each<[string, number, Range]>([
    ['the least', 1, { least: 1, most: 3 }],
    ['the most', 3, { least: 1, most: 3 }],
    ['a part where nothing is counted', 0.5, { least: 0, most: 1 }],
    ['no end where there is none', endless, { least: 1, whole: true }],
  ])('may be %s', (_, value, range) => {
    expect(checked('x', value, range)).toBe(value)
  })

  test.each<[string, unknown, Range, string]>([
    ['too little', 0, { least: 1 }, 'x must be a number, 1 or more, not 0'],
    ['too much', 2, { least: 0, most: 1 }, 'x must be a number, from 0 to 1, not 2'],
    [
      'half a thing',
      1.5,
      { least: 1, whole: true },
      'x must be a whole number, 1 or more, not 1.5',
    ],
    ['no number', Number.NaN, { least: 0 }, 'x must be a number, 0 or more, not NaN'],
    ['text', '5', { least: 0 }, 'x must be a number, 0 or more, not 5'],
  ])('is refused by name if it is %s', (_, value, range, message) => {
    expect(() => checked('x', value as number, range)).toThrow(new RangeError(message))
  })
})
