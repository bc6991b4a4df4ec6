import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import type { BreakerOptions } from '../options.ts'
import { Breaker, type BreakerState } from './breaker.ts'

function breakerOf(options: BreakerOptions = {}) {
  const time = { now: 1000 }
  const changes: [BreakerState, string][] = []
  const breaker = new Breaker(options, {
    now: () => time.now,
    onChange: (state, why) => changes.push([state, why]),
  })
  const call = (outcome: 'succeeded' | 'failed' | 'abandoned') => {
    const ticket = breaker.begin()
    if (ticket !== 0) breaker[outcome](ticket)
    return ticket !== 0
  }
  const calls = (...outcomes: readonly ('succeeded' | 'failed' | 'abandoned')[]) =>
    outcomes.map(call)
  return { breaker, time, changes, call, calls }
}

const failures = limits.breakerFailures.default
const openMs = limits.breakerOpenMs.default

describe('a closed breaker', () => {
  test('opens after as many failures in a row as the limit says, and reports it', () => {
    const { breaker, changes, call } = breakerOf()
    for (let left = failures; left > 1; left--) call('failed')
    expect(breaker.state).toBe('closed')
    expect(breaker.why).toBe('')
    call('failed')
    expect(breaker.state).toBe('open')
    expect(breaker.why).toBe('5 failures in a row')
    expect(changes).toEqual([['open', '5 failures in a row']])
    expect(breaker.isReady).toBe(false)
    expect(call('succeeded')).toBe(false)
  })

  test('counts failures anew after a success', () => {
    const { breaker, calls } = breakerOf({ window: 100 })
    for (let round = 0; round < 10; round++) {
      calls('failed', 'failed', 'failed', 'failed', 'succeeded')
    }
    expect(breaker.state).toBe('closed')
  })

  test('opens when half of the last ten calls failed, and not before there were ten', () => {
    const { breaker, calls } = breakerOf()
    calls('failed', 'failed', 'succeeded', 'failed', 'failed', 'succeeded', 'succeeded')
    calls('succeeded', 'succeeded')
    expect(breaker.state).toBe('closed')
    calls('failed')
    expect(breaker.why).toBe('5 of the last 10 calls failed')
  })

  test('ignores calls before its window', () => {
    const { breaker, calls } = breakerOf({ window: 4, ratio: 0.75, failures: 100 })
    calls('failed', 'failed', 'succeeded', 'succeeded', 'succeeded', 'failed', 'failed')
    expect(breaker.state).toBe('closed')
    calls('failed')
    expect(breaker.why).toBe('3 of the last 4 calls failed')
  })

  test('does not count abandoned calls', () => {
    const { breaker, calls } = breakerOf()
    for (let round = 0; round < 3; round++) calls('failed', 'abandoned')
    expect(breaker.state).toBe('closed')
    calls('failed', 'failed')
    expect(breaker.state).toBe('open')
  })

  test('opens at the first failure with that option', () => {
    const { breaker, call } = breakerOf({ failures: 1 })
    call('failed')
    expect(breaker.why).toBe('1 failure')
  })
})

describe('an open breaker', () => {
  test('says when it will be half-open, and is half-open then', () => {
    const { breaker, time, calls, changes } = breakerOf({ failures: 1 })
    calls('failed')
    time.now += 1000
    expect(breaker.retryAfterMs).toBe(openMs - 1000)
    time.now += openMs - 1001
    expect(breaker.isReady).toBe(false)
    time.now += 1
    expect(breaker.isReady).toBe(true)
    expect(breaker.state).toBe('half-open')
    expect(breaker.retryAfterMs).toBe(0)
    // Looking has begun nothing.
    expect(changes).toHaveLength(1)
  })

  test('is not kept open by calls that began before', () => {
    const { breaker, time, call } = breakerOf({ failures: 1 })
    const early = breaker.begin()
    call('failed')
    time.now += 100
    breaker.failed(early)
    expect(breaker.retryAfterMs).toBe(openMs - 100)
    breaker.succeeded(early)
    expect(breaker.state).toBe('open')
  })

  test('is half-open at once after tryNow()', () => {
    const { breaker, changes, calls } = breakerOf({ failures: 1 })
    calls('failed')
    breaker.tryNow()
    expect([breaker.state, breaker.isReady, breaker.retryAfterMs]).toEqual(['half-open', true, 0])
    calls('failed')
    expect(breaker.retryAfterMs).toBe(openMs)
    breaker.tryNow()
    calls('succeeded', 'succeeded')
    breaker.tryNow()
    expect(breaker.state).toBe('closed')
    expect(changes.map(([state]) => state)).toEqual([
      'open',
      'half-open',
      'open',
      'half-open',
      'closed',
    ])
  })
})

describe('a half-open breaker', () => {
  function onTrial() {
    const made = breakerOf({ failures: 1 })
    const late = [made.breaker.begin(), made.breaker.begin()]
    made.call('failed')
    made.time.now += openMs
    return { ...made, late }
  }

  test('is not blocked by a call that takes longer than it was open', () => {
    const { breaker, time } = onTrial()
    const slow = breaker.begin()
    time.now += openMs - 1
    expect([breaker.isReady, breaker.begin()]).toEqual([false, 0])
    time.now += 1
    const next = breaker.begin()
    expect([next !== 0, breaker.isReady]).toEqual([true, false])
    breaker.succeeded(next)
    breaker.succeeded(slow)
    expect(breaker.state).toBe('closed')
  })

  test('lets one call through at a time', () => {
    const { breaker, changes } = onTrial()
    const probe = breaker.begin()
    expect(probe).not.toBe(0)
    expect(limits.breakerProbes.default).toBe(1)
    expect(breaker.isReady).toBe(false)
    expect(breaker.begin()).toBe(0)
    breaker.abandoned(probe)
    expect(breaker.isReady).toBe(true)
    expect(changes.at(-1)).toEqual(['half-open', 'probing after 1 failure'])
  })

  test('closes after two successes in a row', () => {
    const { breaker, calls, changes } = onTrial()
    calls('succeeded')
    expect(breaker.state).toBe('half-open')
    calls('succeeded')
    expect(breaker.state).toBe('closed')
    expect(breaker.why).toBe('')
    expect(changes.map(([state]) => state)).toEqual(['open', 'half-open', 'closed'])
  })

  test('opens for the full time again after a failure', () => {
    const { breaker, time, calls } = onTrial()
    calls('succeeded', 'failed')
    expect(breaker.state).toBe('open')
    expect(breaker.why).toBe('a failure while half-open')
    expect(breaker.retryAfterMs).toBe(openMs)
    time.now += openMs
    calls('succeeded')
    expect(breaker.state).toBe('half-open')
  })

  test('is neither closed nor opened by calls that began before it opened', () => {
    const { breaker, late, call } = onTrial()
    const probe = breaker.begin()
    for (const ticket of late) breaker.succeeded(ticket)
    expect(breaker.state).toBe('half-open')
    expect(breaker.begin()).toBe(0)
    for (const ticket of late) breaker.failed(ticket)
    expect(breaker.state).toBe('half-open')
    breaker.succeeded(probe)
    call('succeeded')
    expect(breaker.state).toBe('closed')
  })
})

test('reset() closes a breaker and resets its counters', () => {
  const { breaker, calls, changes } = breakerOf({ failures: 2 })
  calls('failed', 'failed')
  breaker.reset()
  expect([breaker.state, breaker.why]).toEqual(['closed', ''])
  calls('failed')
  expect(breaker.state).toBe('closed')
  calls('failed')
  expect(changes.map(([state]) => state)).toEqual(['open', 'closed', 'open'])
})

test.each<[keyof BreakerOptions, number]>([
  ['failures', 0],
  ['ratio', -0.1],
  ['ratio', 1.5],
  ['window', 2.5],
  ['openMs', 0],
  ['successes', -1],
])('%s cannot be %d', (name, value) => {
  expect(() => breakerOf({ [name]: value })).toThrow(`breaker.${name} must be`)
})

test('in any order of events it becomes half-open in time, with one probe at a time', () => {
  const step = fc.oneof(
    fc.constant('begin' as const),
    fc.constantFrom('succeeded' as const, 'failed' as const, 'abandoned' as const),
    fc.integer({ min: 1, max: 20 }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), steps => {
      const { breaker, time } = breakerOf({ failures: 2, window: 4, openMs: 20, successes: 1 })
      const running: number[] = []
      let begunAt = 0
      for (const what of steps) {
        if (typeof what === 'number') time.now += what
        else if (what === 'begin') {
          const ready = breaker.isReady
          const ticket = breaker.begin()
          expect(ticket !== 0).toBe(ready)
          // Calls of one trial have the same ticket.
          const isLate = time.now - begunAt >= 20
          if (breaker.state === 'half-open' && !isLate) expect(running).not.toContain(ticket)
          if (ticket === 0) continue
          begunAt = time.now
          running.push(ticket)
        } else {
          const ticket = running.pop()
          if (ticket !== undefined) breaker[what](ticket)
        }
        expect(breaker.retryAfterMs).toBeLessThanOrEqual(20)
      }
      for (const ticket of running) breaker.abandoned(ticket)
      time.now += 20
      expect(breaker.isReady).toBe(true)
    }),
  )
})
