import { type Deferred, deferred } from '../../util/promises.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'

/** The time in which a closing peer waits for the requests in flight to be answered. */
export class Drain {
  readonly #deadlines: Deadlines
  readonly #deadline = timed(() => this.end())
  #waiting: Deferred<void> | undefined

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines
  }

  get isActive(): boolean {
    return this.#waiting !== undefined
  }

  /** Resolves when `end` is called, or after `drainMs`. */
  start(drainMs: number): Promise<void> {
    this.#waiting = deferred<void>()
    this.#deadlines.start(this.#deadline, drainMs)
    return this.#waiting.promise
  }

  /** Restarts the time with another length; with 0 it ends. */
  restart(drainMs: number): void {
    this.#deadlines.stop(this.#deadline)
    if (drainMs > 0) this.#deadlines.start(this.#deadline, drainMs)
    else this.end()
  }

  end(): void {
    this.#deadlines.stop(this.#deadline)
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}
