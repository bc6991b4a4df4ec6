import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import type { RestartOptions } from '../options.ts'
import { RestartBudget } from './restart-budget.ts'

function budgetOf(options: RestartOptions = {}, random = () => 0.999_999) {
  const time = { now: 0 }
  const budget = new RestartBudget(options, { now: () => time.now, random })
  /** The longest wait before the next start, or that there is none. */
  const next = () => {
    const answer = budget.next()
    return answer === 'quarantine' ? answer : answer.delayMs + 1
  }
  return { budget, time, next }
}

const maxRestarts = limits.maxRestarts.default
const windowMs = limits.restartWindowMs.default
const steadyMs = limits.restartStableMs.default
const { default: minMs } = limits.restartMinMs
const { default: maxMs } = limits.restartMaxMs

describe('an instance that exits', () => {
  test('is restarted after delays that double up to a limit', () => {
    const { next, time } = budgetOf()
    const waits = Array.from({ length: 12 }, () => {
      time.now += windowMs
      return next()
    })
    expect(waits.slice(0, 4)).toEqual([minMs, 2 * minMs, 4 * minMs, 8 * minMs])
    expect(waits.at(-1)).toBe(maxMs)
  })

  test('waits for a random time, between 0 and the limit', () => {
    const chances = [0, 0.5, 0.999]
    const { budget } = budgetOf({ minMs: 1000, maxMs: 1000 }, () => chances.shift() ?? 0)
    expect(budget.next()).toEqual({ delayMs: 0 })
    expect(budget.next()).toEqual({ delayMs: 500 })
    expect(budget.next()).toEqual({ delayMs: 999 })
  })

  test('is restarted at once if there is no delay, but not forever', () => {
    const { next, time } = budgetOf({ minMs: 0, maxMs: 8 })
    const waits = Array.from({ length: 5 }, () => {
      time.now += windowMs
      return next()
    })
    expect(waits).toEqual([1, 2, 4, 8, 8])
  })

  test('is quarantined if it exits too often in too short a time', () => {
    const { budget, next, time } = budgetOf()
    for (let left = maxRestarts; left > 0; left--) {
      expect(next()).not.toBe('quarantine')
      time.now += 100
    }
    expect(budget.reason).toBe('')
    expect(next()).toBe('quarantine')
    expect(budget.isQuarantined).toBe(true)
    expect(budget.reason).toBe('restarted 5 times within 60 s and stopped each time')
    time.now += 10 * windowMs
    expect(next()).toBe('quarantine')
    budget.release()
    expect(next()).toBe(minMs)
    expect(budget.reason).toBe('')
  })

  test('is restarted forever if it exits seldom', () => {
    const { next, time } = budgetOf()
    for (let left = 100; left > 0; left--) {
      expect(next()).not.toBe('quarantine')
      time.now += windowMs / maxRestarts
    }
  })

  test('starts from the shortest delay again after it was up for long enough, and not before', () => {
    const { budget, next, time } = budgetOf({ maxRestarts: 100 })
    next()
    next()
    budget.succeeded()
    time.now += steadyMs - 1
    expect(next()).toBe(4 * minMs)
    budget.succeeded()
    time.now += steadyMs
    expect(next()).toBe(minMs)
    // The time before it was up counts for nothing.
    time.now += steadyMs
    expect(next()).toBe(2 * minMs)
  })

  test('is restarted at once, and never quarantined, as long as it answers calls', () => {
    const { budget, time } = budgetOf()
    for (let left = 100; left > 0; left--) {
      budget.succeeded()
      time.now += minMs
      expect(budget.next({ hasAnswered: true })).toEqual({ delayMs: 0 })
    }
    // Not more often than every `minMs`, however soon it exits.
    budget.succeeded()
    time.now += 30
    expect(budget.next({ hasAnswered: true })).toEqual({ delayMs: minMs - 30 })
  })

  test('is quarantined only for exits without an answer in between', () => {
    const { budget, next } = budgetOf()
    for (let left = maxRestarts; left > 0; left--) expect(next()).not.toBe('quarantine')
    expect(budget.next({ hasAnswered: true })).not.toBe('quarantine')
    for (let left = maxRestarts; left > 0; left--) expect(next()).not.toBe('quarantine')
    expect(next()).toBe('quarantine')
  })

  test('is not quarantined for a lack of answers if it got no calls and was up for a while', () => {
    const { budget, time } = budgetOf()
    for (let left = 100; left > 0; left--) {
      budget.succeeded()
      time.now += limits.restartUnusedMs.default
      expect(budget.next({ isUnused: true })).toEqual({ delayMs: 0 })
    }
  })

  test('is quarantined if it exits right after each start, although it got no calls', () => {
    const { budget, time } = budgetOf()
    for (let left = maxRestarts; left > 0; left--) {
      budget.succeeded()
      time.now += limits.restartUnusedMs.default - 1
      expect(budget.next({ isUnused: true })).not.toBe('quarantine')
    }
    expect(budget.next({ isUnused: true })).toBe('quarantine')
  })

  test('waits for a short time only while no other instance takes calls', () => {
    const { budget } = budgetOf({ maxRestarts: 1000 })
    const aloneMs = limits.restartAloneMs.default
    for (let left = 20; left > 0; left--) {
      const next = budget.next({ isAlone: true })
      expect(next === 'quarantine' ? next : next.delayMs).toBeLessThan(aloneMs)
    }
    const next = budget.next()
    expect(next === 'quarantine' ? next : next.delayMs).toBeGreaterThan(aloneMs)
  })

  test('is neither counted nor quarantined while this machine lacks resources', () => {
    const { budget, next } = budgetOf()
    for (let left = 100; left > 0; left--) {
      expect(budget.next({ isShortage: true })).toEqual({ delayMs: limits.restartAloneMs.default })
    }
    expect(next()).toBe(minMs)
  })

  test('is never restarted with 0, and always with Infinity', () => {
    const never = budgetOf({ maxRestarts: 0 })
    expect(never.budget.next({ hasAnswered: true })).toBe('quarantine')
    expect(never.next()).toBe('quarantine')
    expect(never.budget.reason).toBe('stopped, and restarts are disabled')
    const always = budgetOf({ maxRestarts: Number.POSITIVE_INFINITY })
    for (let left = 5000; left > 0; left--) expect(always.next()).not.toBe('quarantine')
    expect(always.next()).toBe(maxMs)
  })

  test('is never restarted more often than the limit in any window', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30_000), { maxLength: 60 }), gaps => {
        const { next, time } = budgetOf()
        const starts: number[] = []
        for (const gap of gaps) {
          time.now += gap
          if (next() !== 'quarantine') starts.push(time.now)
        }
        for (const from of starts) {
          const within = starts.filter(at => at >= from && at - from < windowMs)
          expect(within.length).toBeLessThanOrEqual(maxRestarts)
        }
      }),
    )
  })
})

test.each<[keyof RestartOptions, RestartOptions]>([
  ['maxRestarts', { maxRestarts: -1 }],
  ['maxRestarts', { maxRestarts: 1.5 }],
  ['windowMs', { windowMs: 0 }],
  ['minMs', { minMs: -1 }],
  ['maxMs', { minMs: 500, maxMs: 100 }],
])('%s out of range is refused', (name, options) => {
  expect(() => budgetOf(options)).toThrow(`restart.${name} must be`)
})
