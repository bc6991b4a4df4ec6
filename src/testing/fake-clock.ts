import type { Clock, Timer } from '../util/time/clock.ts'

/** A clock whose time changes only by `advance`. */
export interface FakeClock extends Clock {
  /**
   * Advances the time by this many milliseconds and runs the timers that are due, in order, including
   * those that these timers start. Each timer sees the time it was set for.
   */
  advance(ms: number): void
  /** The number of timers that have neither run nor been stopped. */
  readonly pending: number
}

/** Creates a clock for tests. It starts at zero, or at the given time in milliseconds. */
export function fakeClock(startMs = 0): FakeClock {
  let now = startMs
  const waiting = new Map<Timer, Waiting>()
  return {
    now: () => now,
    start: (run, delayMs) => {
      const timer: Timer = { ref() {}, unref() {} }
      waiting.set(timer, { at: now + Math.max(0, delayMs), run })
      return timer
    },
    stop: timer => void waiting.delete(timer),
    advance: ms => {
      if (!(ms >= 0)) throw new RangeError(`advance() expects milliseconds ≥ 0, got ${ms}`)
      const end = now + ms
      for (let next = earliest(waiting); next !== undefined; next = earliest(waiting)) {
        const [timer, { at, run }] = next
        if (at > end) break
        waiting.delete(timer)
        now = Math.max(now, at)
        run()
      }
      now = Math.max(now, end)
    },
    get pending() {
      return waiting.size
    },
  }
}

interface Waiting {
  readonly at: number
  readonly run: () => void
}

/**
 * Returns the earliest timer; of those with the same time, the one started first, because a Map keeps
 * that order.
 */
function earliest(waiting: ReadonlyMap<Timer, Waiting>): [Timer, Waiting] | undefined {
  let found: [Timer, Waiting] | undefined
  for (const entry of waiting) {
    if (found === undefined || entry[1].at < found[1].at) found = entry
  }
  return found
}
