import { expect, test } from 'vitest'
import { mixed } from './mixed.ts'

const minutes = Number(process.env.SOAK_MINUTES ?? 20)

test(`${minutes} minutes of a mixed load on a router with four servers`, async () => {
  const began = performance.now()
  const lengthMs = minutes * 60_000
  let nextLook = lengthMs / 20
  const { samples, done, failures, differences } = await mixed({
    isOver: () => performance.now() - began >= lengthMs,
    isTimeToLook: () => {
      if (performance.now() - began < nextLook) return false
      nextLook += lengthMs / 20
      return true
    },
  })
  console.table(samples)
  console.table(done)
  expect(failures).toEqual([])
  expect(differences).toEqual([])
  const [first, ...later] = samples
  const last = later.at(-1)
  expect(last?.children).toBe(first?.children)
  // All callers are gone; sessions that were abandoned hold no handle.
  expect(last?.handles).toBeLessThanOrEqual((first?.handles ?? 0) + 10)
  // Compared with the load a quarter of the time after its start, when caches are full.
  const early = later[Math.floor(later.length / 4)]
  expect(last?.rssMb).toBeLessThanOrEqual(1.5 * (early?.rssMb ?? 0) + 50)
})
