import { type Deadlines, systemDeadlines, timed } from '../../util/time/deadline.ts'

/** Counts the requests that are being answered, and tells when there are none left. */
export class InFlight {
  readonly #most: number
  readonly #deadlines: Deadlines
  #count = 0
  readonly #onIdle = new Set<() => void>()

  constructor(most: number, deadlines: Deadlines = systemDeadlines) {
    this.#most = most
    this.#deadlines = deadlines
  }

  /** Whether there are as many as there may be, apart from `spared` ones that hardly cost anything. */
  isFull(spared = 0): boolean {
    return this.#count - spared >= this.#most
  }

  enter(): void {
    this.#count++
  }

  leave(): void {
    this.#count--
    if (this.#count > 0 || this.#onIdle.size === 0) return
    for (const tell of [...this.#onIdle]) tell()
  }

  /** Resolves when nothing is being answered any more, or when the time is up. */
  drained(ms: number): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise(resolve => {
      const over = (): void => {
        this.#onIdle.delete(over)
        this.#deadlines.stop(deadline)
        resolve()
      }
      const deadline = timed(over)
      this.#onIdle.add(over)
      this.#deadlines.start(deadline, ms)
    })
  }
}
