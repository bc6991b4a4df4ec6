import { describe, expect, test } from 'vitest'
import { Allowance } from './token-bucket.ts'

function allowanceOf(burst: number, perSecond: number) {
  const time = { now: 0 }
  return { time, allowance: new Allowance(burst, perSecond, () => time.now) }
}

describe('an allowance', () => {
  test('gives so many at once, then so many a second', () => {
    const { time, allowance } = allowanceOf(2, 4)
    expect([allowance.take(), allowance.take(), allowance.take()]).toEqual([true, true, false])
    time.now += 500
    expect([allowance.take(), allowance.take(), allowance.take()]).toEqual([true, true, false])
    time.now += 60_000
    expect([allowance.take(), allowance.take(), allowance.take()]).toEqual([true, true, false])
  })

  test('says how long until there is one, and takes nothing by that', () => {
    const { time, allowance } = allowanceOf(1, 4)
    expect([allowance.waitMs(), allowance.waitMs()]).toEqual([0, 0])
    expect(allowance.take()).toBe(true)
    expect(allowance.waitMs()).toBe(250)
    time.now += 125
    expect(allowance.waitMs()).toBe(125)
    time.now += 125
    expect(allowance.waitMs()).toBe(0)
    expect(allowance.take()).toBe(true)
  })
})
