/** A running timer that can be told whether it keeps the process alive. */
export interface Timer {
  ref(): unknown
  unref(): unknown
}

/**
 * Where times come from. Everything that waits or expires takes one, so that tests can move time by
 * hand.
 */
export interface Clock {
  /** Milliseconds that never go backwards; only differences mean anything. */
  now(): number
  /** Runs `callback` once, `delayMs` from now. */
  start(callback: () => void, delayMs: number): Timer
  stop(timer: Timer): void
}

/** The longest delay that a timer of the machine can wait; a longer one would be over at once. */
export const longestDelayMs = 0x7fffffff

/** The clock of the machine: monotonic, so that a changed wall clock expires nothing. */
export const systemClock: Clock = {
  now: () => performance.now(),
  start: (callback, delayMs) => setTimeout(callback, delayMs),
  // The check: a Timer given to stop() came from start() of the same clock.
  stop: timer => clearTimeout(timer as NodeJS.Timeout),
}
