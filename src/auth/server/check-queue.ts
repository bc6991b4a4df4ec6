import { limits } from '../../util/limits/limits.ts'
import { deferred } from '../../util/promises.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'

/** Runs a bounded number of token checks at a time; the others wait in order, for a bounded time. */
export class CheckQueue {
  readonly #clock: Clock
  readonly #waiting: { readonly start: () => void }[] = []
  #running = 0

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  /** Runs a check. Resolves to undefined, without running it, where too many checks wait or it waits too long. */
  async run<T>(check: () => Promise<T>): Promise<T | undefined> {
    if (this.#running >= limits.tokenChecks.default && !(await this.#turn())) return undefined
    this.#running++
    try {
      return await check()
    } finally {
      this.#running--
      this.#waiting.shift()?.start()
    }
  }

  async #turn(): Promise<boolean> {
    if (this.#waiting.length >= limits.tokenChecksWaiting.default) return false
    const turn = deferred<boolean>()
    const entry = { start: () => turn.resolve(true) }
    this.#waiting.push(entry)
    const timer = this.#clock.start(() => {
      const at = this.#waiting.indexOf(entry)
      if (at !== -1) this.#waiting.splice(at, 1)
      turn.resolve(false)
    }, limits.tokenChecksWaitMs.default)
    const isMine = await turn.promise
    this.#clock.stop(timer)
    return isMine
  }
}
