import type { Clock, Timer } from '../util/time/clock.ts'

/** A clock that stands still until it is told to go on. */
export interface FakeClock extends Clock {
  /**
   * Moves the time on by so many milliseconds and runs, in the order of their times, the timers that
   * are due by then, those included that such a timer starts. Each sees the time it was set for.
   */
  advance(ms: number): void
  /** How many timers have been started and neither run nor stopped. */
  readonly pending: number
}

/** Makes a clock for tests. It begins at zero, or at the time given in milliseconds. */
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
      if (!(ms >= 0)) throw new RangeError(`time goes forward, not by ${ms} ms`)
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

/** Of those with the same time, the one started first: a Map keeps that order. */
function earliest(waiting: ReadonlyMap<Timer, Waiting>): [Timer, Waiting] | undefined {
  let found: [Timer, Waiting] | undefined
  for (const entry of waiting) {
    if (found === undefined || entry[1].at < found[1].at) found = entry
  }
  return found
}
