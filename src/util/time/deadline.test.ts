import { afterEach, describe, expect, it, test, vi } from 'vitest'
import type { Clock, Timer } from './clock.ts'
import { Deadlines, timed } from './deadline.ts'

/** A clock moved by hand, which also counts the timers and those that keep the process alive. */
function manualClock() {
  let now = 1000
  let made = 0
  const timers = new Map<Timer, { at: number; run: () => void; held: boolean }>()
  const clock: Clock = {
    now: () => now,
    start(run, delayMs) {
      made++
      const timer: Timer = {
        ref: () => hold(timer, true),
        unref: () => hold(timer, false),
      }
      timers.set(timer, { at: now + delayMs, run, held: true })
      return timer
    },
    stop: timer => timers.delete(timer),
  }
  const hold = (timer: Timer, held: boolean) => {
    const entry = timers.get(timer)
    if (entry !== undefined) entry.held = held
  }
  return {
    clock,
    advance(ms: number) {
      now += ms
      for (const [timer, entry] of [...timers]) {
        if (entry.at <= now && timers.delete(timer)) entry.run()
      }
    },
    get made() {
      return made
    },
    get held() {
      return [...timers.values()].filter(entry => entry.held).length
    },
  }
}

describe('deadlines', () => {
  it('end after their time, within a tick, and never before', () => {
    const { clock, advance } = manualClock()
    const deadlines = new Deadlines(clock, 10)
    const ended: string[] = []
    deadlines.start(
      timed(() => ended.push('a')),
      50,
    )
    deadlines.start(
      timed(() => ended.push('b')),
      25,
    )
    advance(24)
    expect(ended).toEqual([])
    advance(10)
    expect(ended).toEqual(['b'])
    advance(15)
    expect(ended).toEqual(['b'])
    advance(11)
    expect(ended).toEqual(['b', 'a'])
    expect(deadlines.size).toBe(0)
  })

  it('share one timer, however many there are, which holds the process only while they run', () => {
    const manual = manualClock()
    const deadlines = new Deadlines(manual.clock, 10)
    const things = Array.from({ length: 1000 }, () => timed(() => {}))
    for (const thing of things) deadlines.start(thing, 1000)
    expect(manual.made).toBe(1)
    expect(manual.held).toBe(1)
    for (const thing of things) deadlines.stop(thing)
    manual.advance(10)
    expect(manual.held).toBe(0)
    deadlines.start(
      timed(() => {}),
      985,
    )
    expect(manual.held).toBe(1)
    expect(manual.made).toBe(2)
  })

  it('can be stopped in any order, and again', () => {
    const { clock, advance } = manualClock()
    const deadlines = new Deadlines(clock, 10)
    const ended: number[] = []
    const things = [0, 1, 2, 3, 4].map(i => timed(() => ended.push(i)))
    for (const thing of things) deadlines.start(thing, 20)
    for (const i of [2, 0, 4, 0]) deadlines.stop(things[i] as (typeof things)[0])
    expect(deadlines.size).toBe(2)
    advance(100)
    expect(ended.sort()).toEqual([1, 3])
  })

  it('may stop and start others when they end', () => {
    const { clock, advance } = manualClock()
    const deadlines = new Deadlines(clock, 10)
    const ended: string[] = []
    const victim = timed(() => ended.push('victim'))
    const again = timed(() => ended.push('again'))
    const first = timed(() => {
      ended.push('first')
      deadlines.stop(victim)
      deadlines.start(again, 100)
    })
    deadlines.start(victim, 10)
    deadlines.start(first, 10)
    advance(30)
    expect(ended).toEqual(['first'])
    advance(111)
    expect(ended).toEqual(['first', 'again'])
  })

  it('leave nothing behind when they are stopped, however long they were', () => {
    const manual = manualClock()
    const deadlines = new Deadlines(manual.clock, 10)
    for (let i = 0; i < 1000; i++) {
      const thing = timed(() => {})
      deadlines.start(thing, 3_600_000)
      manual.advance(20)
      deadlines.stop(thing)
    }
    expect(deadlines.ticks).toBeLessThanOrEqual(1)
  })

  it('longer than any timer still come', () => {
    const { clock, advance } = manualClock()
    const deadlines = new Deadlines(clock, 10)
    let ended = false
    deadlines.start(
      timed(() => {
        ended = true
      }),
      2 ** 31 + 1000,
    )
    advance(2 ** 31)
    expect(ended).toBe(false)
    advance(1011)
    expect(ended).toBe(true)
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

test('background deadlines do not keep the process alive and still expire', async () => {
  // The deadlines are shared by the process: other tests may have some running.
  vi.resetModules()
  const { backgroundDeadlines } = await import('./deadline.ts')
  vi.useFakeTimers()
  const started = vi.spyOn(globalThis, 'setTimeout')
  const ended = vi.fn()
  const deadlines = backgroundDeadlines(undefined)
  deadlines.start(timed(ended), 60_000)
  expect(started.mock.results.map(({ value }) => value.hasRef())).toEqual([false])
  vi.advanceTimersByTime(61_000)
  expect(ended).toHaveBeenCalledOnce()
})
