import type { Clock } from './clock.ts'
import { type Deadlines, timed } from './deadline.ts'

/** A wait that others can look at, and end before its time. One at a time. */
export class Pause {
  readonly #clock: Clock
  readonly #deadlines: Deadlines
  #until: number | undefined
  #over: (() => void) | undefined

  constructor(clock: Clock, deadlines: Deadlines) {
    this.#clock = clock
    this.#deadlines = deadlines
  }

  /** Milliseconds until it is over; undefined where nobody waits. */
  get leftMs(): number | undefined {
    if (this.#until === undefined) return undefined
    return Math.max(0, Math.ceil(this.#until - this.#clock.now()))
  }

  /** Settles after so many milliseconds, or when somebody ends it. */
  wait(delayMs: number): Promise<void> {
    this.#until = this.#clock.now() + delayMs
    return new Promise(resolve => {
      const over = (): void => {
        this.#deadlines.stop(alarm)
        this.#over = undefined
        this.#until = undefined
        resolve()
      }
      const alarm = timed(over)
      this.#over = over
      this.#deadlines.start(alarm, Math.max(1, delayMs))
    })
  }

  /** Ends the wait; does nothing where nobody waits. */
  end(): void {
    this.#over?.()
  }
}
