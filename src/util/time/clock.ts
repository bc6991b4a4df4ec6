/** A running timer. `ref` and `unref` set whether it keeps the process alive. */
export interface Timer {
  /** Lets the timer keep the process alive. */
  ref(): unknown
  /** Lets the process end before the timer. */
  unref(): unknown
}

/**
 * A source of time and timers. Everything that waits or expires accepts one, so that tests can control
 * the time.
 */
export interface Clock {
  /** Returns milliseconds that never go backwards; only differences are meaningful. */
  now(): number
  /** Runs `callback` once, `delayMs` from now. */
  start(callback: () => void, delayMs: number): Timer
  /** Cancels a timer; no effect if it has run. */
  stop(timer: Timer): void
}

/** The longest delay in milliseconds that a native timer accepts; a longer one would fire at once. */
export const longestDelayMs = 0x7fffffff

/** The monotonic system clock: a changed wall clock expires nothing. */
export const systemClock: Clock = {
  now: () => performance.now(),
  start: (callback, delayMs) => setTimeout(callback, delayMs),
  // The check: a Timer given to stop() came from start() of the same clock.
  stop: timer => clearTimeout(timer as NodeJS.Timeout),
}
