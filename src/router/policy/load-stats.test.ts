import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { LoadStats, type LoadStatsOptions } from './load-stats.ts'

const halfLifeMs = limits.loadHalfLifeMs.default
const slowStartMs = limits.slowStartMs.default

function loadOf(options: Partial<LoadStatsOptions> = {}) {
  const time = { now: 5000 }
  const load = new LoadStats({ key: 'a', now: () => time.now, ...options })
  const succeed = (tookMs: number, times = 1) => {
    for (let left = times; left > 0; left--) {
      load.begin()
      load.succeeded(tookMs)
    }
  }
  const fail = (tookMs?: number, times = 1) => {
    for (let left = times; left > 0; left--) {
      load.begin()
      load.failed(tookMs)
    }
  }
  return { load, time, succeed, fail }
}

describe('the load statistics of an instance', () => {
  test('count calls by outcome', () => {
    const { load, succeed, fail } = loadOf()
    load.begin()
    load.begin()
    expect(load.inFlight).toBe(2)
    load.abandoned()
    succeed(1, 3)
    fail(1)
    expect(load.inFlight).toBe(1)
    expect(load.counts).toEqual({ begun: 6, succeeded: 3, failed: 1, abandoned: 1 })
  })

  test('have the mean latency of calls that end together', () => {
    const { load, succeed } = loadOf()
    expect(load.latencyMs).toBe(0)
    for (const took of [10, 20, 30]) succeed(took)
    expect(load.latencyMs).toBeCloseTo(20)
    expect(load.recent).toBeCloseTo(3)
  })

  test('count a call half after each half-life', () => {
    const { load, time, succeed } = loadOf()
    succeed(10)
    time.now += halfLifeMs
    expect(load.recent).toBeCloseTo(0.5)
    succeed(40)
    expect(load.latencyMs).toBeCloseTo((0.5 * 10 + 40) / 1.5)
  })

  test('are unknown for an instance that had no calls for long', () => {
    const { load, time, fail } = loadOf()
    fail(100, 5)
    expect(load.errorRate).toBeGreaterThan(0.8)
    time.now += 10 * halfLifeMs
    expect(load.errorRate).toBeLessThan(0.01)
    expect(load.latencyMs).toBe(0)
  })

  test('do not take an instance that refuses at once for a fast one', () => {
    const { load, succeed, fail } = loadOf()
    succeed(100, 5)
    fail(1, 100)
    expect(load.latencyMs).toBeCloseTo(100)
    fail(5000)
    expect(load.latencyMs).toBeGreaterThan(900)
  })

  test('reduce the weight after a recovery', () => {
    const { load, time, fail } = loadOf({ weight: 4 })
    expect(load.weight).toBe(4)
    fail(1, 10)
    load.recovered()
    expect(load.errorRate).toBe(0)
    expect(load.weight).toBeCloseTo(0.4)
    time.now += slowStartMs / 2
    expect(load.weight).toBeCloseTo(2.2)
    time.now += slowStartMs / 2
    expect(load.weight).toBe(4)
  })

  test('reduce the weight from a later time on', () => {
    const { load, time } = loadOf()
    load.recovered(1000)
    time.now += 1000
    expect(load.weight).toBeCloseTo(0.1)
    time.now += slowStartMs
    expect(load.weight).toBe(1)
  })

  test('stay within what was measured, in any order of events', () => {
    const calls = fc.array(
      fc.tuple(
        fc.boolean(),
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 0, max: 30_000 }),
      ),
      { minLength: 1, maxLength: 100 },
    )
    fc.assert(
      fc.property(calls, happened => {
        const { load, time, succeed, fail } = loadOf()
        for (const [isGood, took, later] of happened) {
          if (isGood) succeed(took)
          else fail(took)
          time.now += later
          expect(load.errorRate).toBeGreaterThanOrEqual(0)
          expect(load.errorRate).toBeLessThan(1)
          expect(load.latencyMs).toBeLessThanOrEqual(1000.001)
        }
        expect(load.inFlight).toBe(0)
      }),
    )
  })
})
