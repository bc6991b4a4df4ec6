import { expect, test } from 'vitest'
import { jsonMemory } from './json-memory.ts'

test('strings count by their length, and lists and objects for each value', () => {
  expect(jsonMemory('x'.repeat(9000))).toBe(9000)
  expect(jsonMemory({ text: 'x'.repeat(9000) })).toBeLessThan(9200)
  expect(jsonMemory(Array.from({ length: 1000 }, () => []))).toBeGreaterThan(40_000)
  expect(jsonMemory(Array.from({ length: 1000 }, () => null))).toBeGreaterThan(16_000)
  expect(jsonMemory({ ['k'.repeat(5000)]: 1 })).toBeGreaterThan(5000)
  expect([undefined, null, 1, true].map(jsonMemory)).toEqual([0, 0, 0, 0])
})

test('deep values are counted', () => {
  let deep: unknown = 'x'
  for (let i = 0; i < 100_000; i++) deep = [deep]
  expect(jsonMemory(deep)).toBeGreaterThan(4_000_000)
})
