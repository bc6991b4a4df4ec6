import { type Deadlines, timed } from './deadline.ts'

/**
 * Runs an asynchronous check again and again, `intervalMs` after the previous one has finished, so that
 * two checks never overlap. With an interval of 0 it never runs. The check must not reject.
 */
export class PeriodicCheck {
  readonly #intervalMs: number
  readonly #check: () => Promise<void>
  readonly #deadlines: Deadlines
  readonly #alarm = timed(() => void this.#run())
  /**
   * Identifies the current start: a check that was begun before a stop does not schedule the next one.
   */
  #started = 0
  #isRunning = false

  constructor(intervalMs: number, check: () => Promise<void>, deadlines: Deadlines) {
    this.#intervalMs = intervalMs
    this.#check = check
    this.#deadlines = deadlines
  }

  /** Whether it was started and not stopped since. */
  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Schedules the first check after one interval; starts over if it was started before. */
  start(): void {
    this.stop()
    this.#isRunning = true
    this.#started++
    this.#schedule()
  }

  /** Schedules no further check. A check in progress is not interrupted. Idempotent. */
  stop(): void {
    this.#isRunning = false
    this.#deadlines.stop(this.#alarm)
  }

  #schedule(): void {
    if (this.#intervalMs > 0) this.#deadlines.start(this.#alarm, this.#intervalMs)
  }

  async #run(): Promise<void> {
    const started = this.#started
    await this.#check()
    if (this.#isRunning && this.#started === started) this.#schedule()
  }
}
