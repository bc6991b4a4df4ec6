import { type Deadlines, systemDeadlines, timed } from '../../util/time/deadline.ts'

/** Counts the requests in flight and reports when none is left. */
export class InFlight {
  readonly #max: number
  readonly #deadlines: Deadlines
  #count = 0
  readonly #onIdle = new Set<() => void>()

  constructor(max: number, deadlines: Deadlines = systemDeadlines) {
    this.#max = max
    this.#deadlines = deadlines
  }

  /** Whether the limit is reached, not counting `uncounted` requests that cost hardly anything. */
  isFull(uncounted = 0): boolean {
    return this.#count - uncounted >= this.#max
  }

  enter(): void {
    this.#count++
  }

  leave(): void {
    this.#count--
    if (this.#count > 0 || this.#onIdle.size === 0) return
    for (const listener of [...this.#onIdle]) listener()
  }

  /** Resolves to true when no request is in flight, or to false after `ms` milliseconds. */
  drained(ms: number): Promise<boolean> {
    if (this.#count === 0) return Promise.resolve(true)
    return new Promise(resolve => {
      const finish = (): void => {
        this.#onIdle.delete(finish)
        this.#deadlines.stop(deadline)
        resolve(this.#count === 0)
      }
      const deadline = timed(finish)
      this.#onIdle.add(finish)
      this.#deadlines.start(deadline, ms)
    })
  }
}
