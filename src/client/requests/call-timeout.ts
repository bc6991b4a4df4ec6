import { ChannelError } from '../../jsonrpc/channel.ts'
import { type Deadlines, type Timed, timed } from '../../util/time/deadline.ts'

/** Options of a call timeout. */
export interface CallTimeoutOptions {
  /** What is being waited for, such as the method; the prefix of the error message. */
  readonly what: string
  readonly deadlines: Deadlines
  /** How long to wait without progress, in milliseconds; 0 waits for ever. */
  readonly timeoutMs: number
  /** How long to wait in total, in milliseconds; 0 waits for ever. */
  readonly totalMs: number
  /** How much of both times has passed already, in milliseconds. */
  readonly elapsedMs?: number
}

/**
 * The timeout of one call: an idle time that progress restarts, and a total time that nothing restarts.
 * `end` must be called however the call ends.
 *
 * An AbortSignal would do the same with less code, but creating one costs more than the rest of a call.
 */
export class CallTimeout {
  readonly #options: CallTimeoutOptions
  readonly #idle: Timed
  readonly #total: Timed
  /** Rejects the promises that are being awaited when the timeout expires. */
  readonly #waiting = new Set<(reason: ChannelError) => void>()
  #controller: AbortController | undefined
  #reason: ChannelError | undefined
  #pauses = 0
  #hasEnded = false

  constructor(options: CallTimeoutOptions) {
    this.#options = options
    const { what, deadlines, timeoutMs, totalMs, elapsedMs = 0 } = options
    this.#idle = timed(() => this.#expire(`${what}: no response within ${timeoutMs} ms`))
    this.#total = timed(() => this.#expire(`${what}: not finished within ${totalMs} ms`))
    const rest = (ms: number) => Math.max(1, ms - elapsedMs)
    if (timeoutMs > 0) deadlines.start(this.#idle, rest(timeoutMs))
    // A total below the idle time would cut short the timeout that the caller set.
    if (totalMs > 0) deadlines.start(this.#total, rest(Math.max(totalMs, timeoutMs)))
  }

  /** Aborted when the timeout expires. Created on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Settles with `work`. If the timeout expires first, rejects with a ChannelError `'timeout'` and calls `onLate`. */
  wait<T>(work: Promise<T>, onLate?: (reason: ChannelError) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (reason: ChannelError) => {
        reject(reason)
        onLate?.(reason)
      }
      if (this.#reason !== undefined) late(this.#reason)
      else this.#waiting.add(late)
      work.then(
        value => {
          this.#waiting.delete(late)
          resolve(value)
        },
        error => {
          this.#waiting.delete(late)
          reject(error)
        },
      )
    })
  }

  /** Restarts the idle time, because there was progress. */
  extend(): void {
    const { deadlines, timeoutMs } = this.#options
    if (this.#hasEnded || this.#pauses > 0 || timeoutMs <= 0) return
    deadlines.stop(this.#idle)
    deadlines.start(this.#idle, timeoutMs)
  }

  /** Pauses the idle time while the server waits for this client. The total time runs on. Pauses may overlap. */
  pause(): void {
    if (this.#hasEnded) return
    this.#pauses++
    this.#options.deadlines.stop(this.#idle)
  }

  /** Ends one pause; restarts the idle time if it was the last. */
  resume(): void {
    if (this.#hasEnded || this.#pauses === 0) return
    this.#pauses--
    this.extend()
  }

  /** Stops the timers. Idempotent. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const { deadlines } = this.#options
    deadlines.stop(this.#idle)
    deadlines.stop(this.#total)
  }

  #expire(why: string): void {
    const reason = new ChannelError('timeout', why)
    this.#reason = reason
    this.end()
    for (const late of this.#waiting) late(reason)
    this.#waiting.clear()
    this.#controller?.abort(reason)
  }
}
