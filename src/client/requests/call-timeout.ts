import { ChannelError } from '../../jsonrpc/channel.ts'
import { type Deadlines, type Timed, timed } from '../../util/time/deadline.ts'

/** How much patience there is. */
export interface PatienceOptions {
  /** What is waited for, in words. */
  readonly what: string
  readonly deadlines: Deadlines
  /** How long without a sign of life; 0 for ever. */
  readonly timeoutMs: number
  /** How long altogether; 0 for ever. */
  readonly totalMs: number
  /** How much of both has gone by already. */
  readonly elapsedMs?: number
}

/**
 * How long one call is waited for: a time that begins anew with every sign of life, and a total that
 * never does. It must be ended, however the call ends.
 *
 * A signal would do the same with less code, but making one costs more than all the rest of a call.
 */
export class Patience {
  readonly #options: PatienceOptions
  readonly #idle: Timed
  readonly #total: Timed
  /** What is being waited for at the moment, and has to be told when the time is up. */
  readonly #waiting = new Set<(reason: ChannelError) => void>()
  #controller: AbortController | undefined
  #reason: ChannelError | undefined
  #pauses = 0
  #isOver = false

  constructor(options: PatienceOptions) {
    this.#options = options
    const { what, deadlines, timeoutMs, totalMs, elapsedMs = 0 } = options
    this.#idle = timed(() => this.#give(`${what}: no reply in time`))
    this.#total = timed(() => this.#give(`${what}: not over after ${totalMs} ms, progress or not`))
    const rest = (ms: number) => Math.max(1, ms - elapsedMs)
    if (timeoutMs > 0) deadlines.start(this.#idle, rest(timeoutMs))
    // A total below the other would make a lie of what the caller asked for.
    if (totalMs > 0) deadlines.start(this.#total, rest(Math.max(totalMs, timeoutMs)))
  }

  /** Aborted when the time is up. Made on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** What the work gives, unless the time is up first; then `onLate` is told, and this rejects. */
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

  /** A sign of life: the time without one begins anew. */
  extend(): void {
    const { deadlines, timeoutMs } = this.#options
    if (this.#isOver || this.#pauses > 0 || timeoutMs <= 0) return
    deadlines.stop(this.#idle)
    deadlines.start(this.#idle, timeoutMs)
  }

  /** While this side is the one that is waited for, only the total counts. Pauses may overlap. */
  pause(): void {
    if (this.#isOver) return
    this.#pauses++
    this.#options.deadlines.stop(this.#idle)
  }

  resume(): void {
    if (this.#isOver || this.#pauses === 0) return
    this.#pauses--
    this.extend()
  }

  /** Lets go of the timers. Idempotent. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { deadlines } = this.#options
    deadlines.stop(this.#idle)
    deadlines.stop(this.#total)
  }

  #give(why: string): void {
    const reason = new ChannelError('timeout', why)
    this.#reason = reason
    this.end()
    for (const late of this.#waiting) late(reason)
    this.#waiting.clear()
    this.#controller?.abort(reason)
  }
}
