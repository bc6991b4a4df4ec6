import { type Clock, systemClock } from './clock.ts'
import { type Deadlines, timed } from './deadline.ts'

/**
 * Things whose time is up after a while, unless they are taken out before. All have the same time, so
 * the one that came first is the next, and one deadline is enough.
 */
export class Lapse<T> {
  readonly #ms: number
  readonly #onLapsed: (thing: T) => void
  readonly #clock: Clock
  readonly #deadlines: Deadlines
  readonly #since = new Map<T, number>()
  readonly #deadline = timed(() => this.#expire())
  #isWaiting = false

  constructor(
    ms: number,
    onLapsed: (thing: T) => void,
    deadlines: Deadlines,
    clock: Clock = systemClock,
  ) {
    this.#ms = ms
    this.#onLapsed = onLapsed
    this.#deadlines = deadlines
    this.#clock = clock
  }

  /** The one that has waited longest. */
  get first(): T | undefined {
    for (const thing of this.#since.keys()) return thing
    return undefined
  }

  /** How long a thing has waited; undefined for one that does not. */
  waitedMs(thing: T): number | undefined {
    const since = this.#since.get(thing)
    return since === undefined ? undefined : this.#clock.now() - since
  }

  /** Begins the time of a thing, or begins it again. */
  add(thing: T): void {
    this.#since.delete(thing)
    this.#since.set(thing, this.#clock.now())
    this.#wait()
  }

  delete(thing: T): void {
    if (!this.#since.delete(thing) || this.#since.size > 0 || !this.#isWaiting) return
    this.#isWaiting = false
    this.#deadlines.stop(this.#deadline)
  }

  #wait(): void {
    if (this.#isWaiting) return
    const { first } = this
    if (first === undefined) return
    this.#isWaiting = true
    this.#deadlines.start(this.#deadline, Math.max(0, this.#ms - (this.waitedMs(first) ?? 0)))
  }

  #expire(): void {
    this.#isWaiting = false
    const now = this.#clock.now()
    const due: T[] = []
    for (const [thing, since] of this.#since) {
      if (now - since < this.#ms) break
      due.push(thing)
    }
    for (const thing of due) {
      this.#since.delete(thing)
      this.#onLapsed(thing)
    }
    this.#wait()
  }
}
