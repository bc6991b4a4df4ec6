import { type Clock, systemClock } from './clock.ts'
import { backgroundDeadlines, type Deadlines, timed } from './deadline.ts'

/**
 * Items that expire after a time to live unless they are deleted first. All share one deadline, which
 * does not keep the process alive. An item expires up to one tick of `deadlines` late and never early;
 * `isExpired` is exact.
 */
export class Expiry<T> {
  readonly #onExpired: (item: T) => void
  readonly #clock: Clock
  readonly #deadlines: Deadlines
  readonly #expiresAt = new Map<T, number>()
  readonly #deadline = timed(() => this.#expire())
  #armedFor: number | undefined

  constructor(
    onExpired: (item: T) => void,
    clock: Clock | undefined,
    deadlines: Deadlines = backgroundDeadlines(clock),
  ) {
    this.#onExpired = onExpired
    this.#clock = clock ?? systemClock
    this.#deadlines = deadlines
  }

  /** The item that was added first, or added again least recently. */
  get first(): T | undefined {
    for (const item of this.#expiresAt.keys()) return item
    return undefined
  }

  /** Milliseconds until an item expires, 0 if it is due; undefined for an item that is not here. */
  leftMs(item: T): number | undefined {
    const expiresAt = this.#expiresAt.get(item)
    return expiresAt === undefined ? undefined : Math.max(0, expiresAt - this.#clock.now())
  }

  /** Whether an item is due, even if `onExpired` has not been called for it yet. */
  isExpired(item: T): boolean {
    return this.leftMs(item) === 0
  }

  /** Adds an item; for one that is here already, the time starts again. */
  add(item: T, ttlMs: number): void {
    const expiresAt = this.#clock.now() + ttlMs
    this.#expiresAt.delete(item)
    this.#expiresAt.set(item, expiresAt)
    if (this.#armedFor === undefined || expiresAt < this.#armedFor) this.#arm(expiresAt)
  }

  /** Removes an item, which then does not expire. */
  delete(item: T): void {
    if (this.#expiresAt.delete(item) && this.#expiresAt.size === 0) this.#disarm()
  }

  #arm(expiresAt: number): void {
    this.#disarm()
    this.#armedFor = expiresAt
    this.#deadlines.start(this.#deadline, Math.max(0, expiresAt - this.#clock.now()))
  }

  #disarm(): void {
    this.#armedFor = undefined
    this.#deadlines.stop(this.#deadline)
  }

  #expire(): void {
    this.#armedFor = undefined
    const now = this.#clock.now()
    const due: T[] = []
    let nearest = Number.POSITIVE_INFINITY
    for (const [item, expiresAt] of this.#expiresAt) {
      if (expiresAt <= now) due.push(item)
      else nearest = Math.min(nearest, expiresAt)
    }
    for (const item of due) this.#expiresAt.delete(item)
    if (nearest !== Number.POSITIVE_INFINITY) this.#arm(nearest)
    for (const item of due) this.#onExpired(item)
  }
}
