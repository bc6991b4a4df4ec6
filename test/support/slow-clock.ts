import { type Clock, systemClock } from '../../src/util/time/clock.ts'

/**
 * Returns a clock that runs slower than time by a factor. With it, deadlines end only what hangs, however busy
 * the machine is.
 */
export function slowClock(factor: number): Clock {
  return {
    now: () => systemClock.now() / factor,
    start: (callback, delayMs) => systemClock.start(callback, delayMs * factor),
    stop: timer => systemClock.stop(timer),
  }
}
