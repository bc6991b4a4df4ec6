import { limits } from '../../util/limits/limits.ts'
import { type Deferred, deferred } from '../../util/promises.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'

/**
 * Stops a channel from reading while too many requests or replies are queued, for at most `pauseMs`, because
 * the cancellation or close that would end the pause may be waiting to be read.
 */
export class ReadPause {
  readonly #deadlines: Deadlines
  readonly #deadline = timed(() => this.end())
  #paused: Deferred<void> | undefined

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines
  }

  get isPaused(): boolean {
    return this.#paused !== undefined
  }

  /** Pauses reading. The promise resolves when it may go on. */
  begin(): Promise<void> {
    if (this.#paused === undefined) {
      this.#paused = deferred<void>()
      this.#deadlines.start(this.#deadline, limits.pauseMs.default)
    }
    return this.#paused.promise
  }

  /** Lets the channel go on reading. */
  end(): void {
    if (this.#paused === undefined) return
    this.#deadlines.stop(this.#deadline)
    this.#paused.resolve()
    this.#paused = undefined
  }
}
