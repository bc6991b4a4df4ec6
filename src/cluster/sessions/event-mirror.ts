import { isFenced } from '../../backplane/backplane-error.ts'
import type { LogEntry, SharedLog } from '../../backplane/log.ts'
import { limits } from '../../util/limits/limits.ts'

/** Called when another node has a greater epoch: the session is not this node's any more. */
export type OnFenced = () => void

/**
 * Copies the events of one session to the shared log, from where another node continues its streams. The events of one
 * turn are appended together. While the engine cannot be reached, the newest events wait; a client does not wait for
 * them.
 */
export class EventMirror {
  readonly #key: string
  readonly #log: SharedLog
  readonly #onFenced: OnFenced
  #epoch = 0
  #last = 0
  #waiting: LogEntry[] = []
  #isAppending = false
  #appending: Promise<void> | undefined

  constructor(key: string, log: SharedLog, onFenced: OnFenced) {
    this.#key = key
    this.#log = log
    this.#onFenced = onFenced
  }

  /** Sets the epoch of this node. Events of a session that was not stored before are not copied. */
  begin(epoch: number): void {
    this.#epoch = epoch
    this.#last = 0
    this.#waiting = []
  }

  /** Copies an event. */
  add(text: string): void {
    if (this.#epoch === 0) return
    this.#last++
    this.#waiting.push({ epoch: this.#epoch, n: this.#last, fields: { event: text } })
    if (this.#waiting.length > limits.streamEvents.default) this.#waiting.shift()
    if (!this.#isAppending) this.#schedule()
  }

  /** Appends the events that wait, after the engine could not be reached. */
  flush(): void {
    if (this.#waiting.length > 0 && !this.#isAppending) this.#schedule()
  }

  /** Resolves when no append is in progress. */
  async settled(): Promise<void> {
    this.flush()
    await this.#appending
  }

  #schedule(): void {
    this.#isAppending = true
    this.#appending = Promise.resolve().then(() => this.#append())
  }

  async #append(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const entries = this.#waiting.slice()
        await this.#log.append(this.#key, entries, retention)
        const { n } = entries.at(-1) ?? { n: 0 }
        this.#waiting = this.#waiting.filter(entry => entry.n > n)
      }
    } catch (error) {
      if (isFenced(error)) {
        this.#waiting = []
        this.#onFenced()
      }
    } finally {
      this.#isAppending = false
    }
  }
}

const retention = { ttlMs: limits.eventAgeMs.default, max: limits.streamEvents.default }
