import { type Clock, longestDelayMs, systemClock } from './clock.ts'

/** A delay that can be cut short. */
export interface Sleep {
  /** Resolves when the time is up or `wake` is called. Never rejects. */
  readonly done: Promise<void>
  /** Milliseconds until the time is up; 0 once it is. */
  readonly leftMs: number
  /** Ends the delay now. Idempotent. */
  wake(): void
}

/** Starts a delay of `delayMs`, or of the longest that a timer accepts. */
export function sleep(delayMs: number, clock: Clock = systemClock): Sleep {
  const until = clock.now() + delayMs
  let wake: () => void = () => {}
  const done = new Promise<void>(resolve => {
    const timer = clock.start(() => resolve(), Math.min(delayMs, longestDelayMs))
    wake = () => {
      clock.stop(timer)
      resolve()
    }
  })
  return {
    done,
    wake,
    get leftMs() {
      return Math.max(0, Math.ceil(until - clock.now()))
    },
  }
}

/**
 * Runs `begin`, which has to call the function that it is given, and resolves to true once it does; to
 * false if that takes longer than `limitMs`.
 */
export function withTimeout(
  limitMs: number,
  clock: Clock,
  begin: (done: () => void) => void,
): Promise<boolean> {
  return new Promise(resolve => {
    const timer = clock.start(() => resolve(false), limitMs)
    begin(() => {
      clock.stop(timer)
      resolve(true)
    })
  })
}
