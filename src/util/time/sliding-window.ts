/**
 * Counts events within the last `windowMs` and admits at most `max` of them. Holds the times of at most
 * `max` events. `now` is in milliseconds and never goes backwards.
 */
export class SlidingWindow {
  readonly #max: number
  readonly #windowMs: number
  /** The oldest first. */
  readonly #times: number[] = []

  constructor(max: number, windowMs: number) {
    this.#max = max
    this.#windowMs = windowMs
  }

  /** Counts an event and returns true; returns false, and counts nothing, if the window is full. */
  add(now: number): boolean {
    this.#prune(now)
    if (this.#times.length >= this.#max) return false
    this.#times.push(now)
    return true
  }

  /** Milliseconds until another event is admitted; 0 if one is admitted now. */
  waitMs(now: number): number {
    this.#prune(now)
    const [oldest = now] = this.#times
    return this.#times.length < this.#max ? 0 : oldest + this.#windowMs - now
  }

  /** Forgets every event. */
  clear(): void {
    this.#times.length = 0
  }

  #prune(now: number): void {
    const times = this.#times
    while (times[0] !== undefined && now - times[0] >= this.#windowMs) times.shift()
  }
}
