/**
 * How much may be sent before it is too much: so many at once, then so many a second.
 *
 * `now` gives milliseconds that never go back.
 */
export class Allowance {
  readonly #burst: number
  readonly #perSecond: number
  readonly #now: () => number
  #left: number
  #at: number

  constructor(burst: number, perSecond: number, now: () => number = monotonic) {
    this.#burst = burst
    this.#perSecond = perSecond
    this.#now = now
    this.#left = burst
    this.#at = now()
  }

  /** Takes one; returns whether there was one to take. */
  take(): boolean {
    this.#refill()
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  /** How long until there is one to take, in milliseconds: 0 where there is. Takes nothing. */
  waitMs(): number {
    this.#refill()
    return this.#left >= 1 ? 0 : ((1 - this.#left) / this.#perSecond) * 1000
  }

  #refill(): void {
    const now = this.#now()
    const gained = ((now - this.#at) / 1000) * this.#perSecond
    this.#at = now
    this.#left = Math.min(this.#burst, this.#left + gained)
  }
}

function monotonic(): number {
  return performance.now()
}
