import { availableParallelism } from 'node:os'
import { expect, it } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { workerCount } from './count.ts'

const count = (text: string | undefined) => workerCount({ value: () => text })

it('is one without the option, and one per core with "auto"', () => {
  expect(count(undefined)).toBe(1)
  expect(count('auto')).toBe(Math.min(availableParallelism(), limits.maxWorkers.default))
})

it('accepts as many as the limit, and no more', () => {
  const max = limits.maxWorkers.default
  expect(count(String(max))).toBe(max)
  for (const text of [String(max + 1), '0', '-1', '1.5', '', 'all']) {
    expect(() => count(text)).toThrow(`--workers must be an integer > 0 and ≤ ${max}`)
  }
})
