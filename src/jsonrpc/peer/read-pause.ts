import { limits } from '../../util/limits/limits.ts'
import { type Deferred, deferred } from '../../util/promises.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'

/**
 * A pause in reading, while too many requests or replies are queued. It ends after `pauseMs` at the latest,
 * because the cancellation or close that would end it may be waiting to be read.
 */
export class ReadPause {
  readonly #deadlines: Deadlines
  readonly #deadline = timed(() => this.end())
  #paused: Deferred<void> | undefined

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines
  }

  get isActive(): boolean {
    return this.#paused !== undefined
  }

  /** Starts a pause, or continues the current one. The promise resolves when it ends. */
  start(): Promise<void> {
    if (this.#paused === undefined) {
      this.#paused = deferred<void>()
      this.#deadlines.start(this.#deadline, limits.pauseMs.default)
    }
    return this.#paused.promise
  }

  /** Ends the pause, if there is one. */
  end(): void {
    if (this.#paused === undefined) return
    this.#deadlines.stop(this.#deadline)
    this.#paused.resolve()
    this.#paused = undefined
  }
}
