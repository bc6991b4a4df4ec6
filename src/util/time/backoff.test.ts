import { expect, test } from 'vitest'
import { backoffMs } from './backoff.ts'

const policy = { baseMs: 100, maxMs: 1000 }

test.each([
  [0, 100],
  [1, 200],
  [3, 800],
  [4, 1000],
  [5000, 1000],
])('attempt %i waits for at most %i ms', (attempt, limitMs) => {
  expect(backoffMs(attempt, { ...policy, random: () => 0 })).toBe(0)
  expect(backoffMs(attempt, { ...policy, random: () => 0.5 })).toBe(limitMs / 2)
  expect(backoffMs(attempt, { ...policy, random: () => 0.999 })).toBeLessThan(limitMs)
})

test.each([
  [0, 0.3, 400],
  [0.5, 0, 200],
  [0.5, 0.5, 300],
  [1, 0.25, 100],
])(
  'with a jitter of %f and a random number of %f the delay is %i ms',
  (jitter, chance, delayMs) => {
    expect(backoffMs(2, { ...policy, jitter, random: () => chance })).toBe(delayMs)
  },
)

test('a base of 0 never waits, however often it is tried', () => {
  expect(backoffMs(5000, { baseMs: 0, maxMs: 1000 })).toBe(0)
})

test('Math.random is the default source of chance', () => {
  expect(backoffMs(0, policy)).toBeLessThan(100)
})
