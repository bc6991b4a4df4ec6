import { type Clock, longestDelayMs, systemClock } from './clock.ts'

/** A while that can be cut short. */
export interface Pause {
  /** Settles when the time is up, or when it is cut short. */
  readonly over: Promise<void>
  end(): void
}

/** Waits so long, or as long as a timer can. */
export function pause(delayMs: number, clock: Clock = systemClock): Pause {
  let end: () => void = () => {}
  const over = new Promise<void>(resolve => {
    const timer = clock.start(() => resolve(), Math.min(delayMs, longestDelayMs))
    end = () => {
      clock.stop(timer)
      resolve()
    }
  })
  return { over, end }
}
