/**
 * A token bucket: holds up to `burst` tokens and gains `perSecond` of them every second. It is full at
 * first.
 *
 * `now` returns milliseconds that never go backwards.
 */
export class TokenBucket {
  readonly #burst: number
  readonly #perSecond: number
  readonly #now: () => number
  #tokens: number
  #refilledAt: number

  constructor(burst: number, perSecond: number, now: () => number = monotonic) {
    this.#burst = burst
    this.#perSecond = perSecond
    this.#now = now
    this.#tokens = burst
    this.#refilledAt = now()
  }

  /** Takes a token; returns false if there is none. */
  take(): boolean {
    this.#refill()
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }

  /** Milliseconds until there is a token; 0 if there is one. Takes nothing. */
  waitMs(): number {
    this.#refill()
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / this.#perSecond) * 1000
  }

  #refill(): void {
    const now = this.#now()
    const gained = ((now - this.#refilledAt) / 1000) * this.#perSecond
    this.#refilledAt = now
    this.#tokens = Math.min(this.#burst, this.#tokens + gained)
  }
}

function monotonic(): number {
  return performance.now()
}
