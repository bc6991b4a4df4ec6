import { type Clock, longestDelayMs, systemClock } from '../util/clock.ts'

/** Settles with a promise, or rejects with the reason of a signal that is aborted first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    promise
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort))
      // What went wrong has been told above.
      .catch(() => {})
  })
}

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
