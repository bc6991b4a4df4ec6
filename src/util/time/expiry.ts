import { type Clock, longestDelayMs, type Timer } from './clock.ts'

/**
 * Things that end at a time, behind one timer that keeps no process alive: nothing is lost when the
 * process ends before them.
 */
export class Expiry<T> {
  readonly #clock: Clock
  readonly #onExpired: (thing: T) => void
  readonly #ends = new Map<T, number>()
  #timer: Timer | undefined
  #armedFor = 0

  constructor(clock: Clock, onExpired: (thing: T) => void) {
    this.#clock = clock
    this.#onExpired = onExpired
  }

  add(thing: T, ttlMs: number): void {
    const end = this.#clock.now() + ttlMs
    this.#ends.set(thing, end)
    if (this.#timer === undefined || end < this.#armedFor) this.#arm(end)
  }

  remove(thing: T): void {
    this.#ends.delete(thing)
    if (this.#ends.size === 0) this.#disarm()
  }

  /** Whether its time is up, even if the timer has not fired yet. */
  isOver(thing: T): boolean {
    const end = this.#ends.get(thing)
    return end !== undefined && end <= this.#clock.now()
  }

  #arm(end: number): void {
    this.#disarm()
    this.#armedFor = end
    // One that fires early finds nothing due and is armed again.
    const delayMs = Math.min(Math.max(0, end - this.#clock.now()), longestDelayMs)
    this.#timer = this.#clock.start(() => this.#fire(), delayMs)
    this.#timer.unref()
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#timer = undefined
  }

  #fire(): void {
    this.#timer = undefined
    const now = this.#clock.now()
    const due: T[] = []
    let nearest = Number.POSITIVE_INFINITY
    for (const [thing, end] of this.#ends) {
      if (end <= now) due.push(thing)
      else nearest = Math.min(nearest, end)
    }
    for (const thing of due) this.#ends.delete(thing)
    if (nearest !== Number.POSITIVE_INFINITY) this.#arm(nearest)
    for (const thing of due) this.#onExpired(thing)
  }
}
