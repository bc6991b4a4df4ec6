import { type Deferred, deferred } from '../../util/promises.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'

/** A wait for a state of the peer, which also ends after a time. */
export class BoundedWait {
  readonly #deadlines: Deadlines
  readonly #deadline = timed(() => this.end())
  #waiting: Deferred<void> | undefined

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines
  }

  get isActive(): boolean {
    return this.#waiting !== undefined
  }

  /** Returns a promise that resolves when `end` is called, or `ms` after the wait was started. */
  start(ms: number): Promise<void> {
    if (this.#waiting === undefined) {
      this.#waiting = deferred<void>()
      this.#deadlines.start(this.#deadline, ms)
    }
    return this.#waiting.promise
  }

  /** Restarts the time of an active wait; 0 ends the wait. */
  restart(ms: number): void {
    this.#deadlines.stop(this.#deadline)
    if (ms > 0) this.#deadlines.start(this.#deadline, ms)
    else this.end()
  }

  end(): void {
    if (this.#waiting === undefined) return
    this.#deadlines.stop(this.#deadline)
    this.#waiting.resolve()
    this.#waiting = undefined
  }
}
