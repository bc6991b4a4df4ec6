import { expect, test } from 'vitest'
import { mixed } from './mixed.ts'

test('a router with published servers takes a mixed load, and counts all of it', {
  timeout: 300_000,
}, async () => {
  const { failures, differences, samples } = await mixed({
    isOver: made => made >= 400,
    isTimeToLook: () => false,
  })
  expect(failures).toEqual([])
  expect(differences).toEqual([])
  expect(samples.at(-1)?.children).toBe(samples[0]?.children)
})
