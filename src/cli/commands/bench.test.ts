import { expect, test } from 'vitest'
import { measure, percentile } from './bench.ts'

test.each([
  [50, 5],
  [90, 9],
  [99, 10],
  [100, 10],
  [1, 1],
])('the percentile %d of ten values is one of them', (percent, expected) => {
  expect(percentile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], percent)).toBe(expected)
})

test('the percentile of no values is 0', () => {
  expect(percentile([], 50)).toBe(0)
})

test('keeps the given number of calls in flight, and counts errors', async () => {
  let inFlight = 0
  let max = 0
  let calls = 0
  const call = async () => {
    max = Math.max(max, ++inFlight)
    await new Promise(resolve => setImmediate(resolve))
    inFlight--
    return ++calls % 2 === 0 ? 'every other one fails' : undefined
  }
  const signal = new AbortController().signal
  const parts: number[] = []
  const onTick = (part: number) => void parts.push(part)
  const result = await measure(call, { seconds: 0.05, concurrency: 3, signal, onTick })
  expect(max).toBe(3)
  expect(result.calls).toBe(calls)
  expect(result.errors).toBe(Math.floor(calls / 2))
  expect(result.firstError).toBe('every other one fails')
  expect(parts).toEqual([...parts].sort((a, b) => a - b))
})

test('an interruption stops the measurement', async () => {
  const interruption = new AbortController()
  interruption.abort(new Error('stop'))
  const call = async () => undefined
  const measuring = measure(call, { seconds: 60, concurrency: 1, signal: interruption.signal })
  await expect(measuring).rejects.toThrow('stop')
})
