import type { RpcError } from '../../jsonrpc/error.ts'
import type { Clock, Timer } from '../../util/time/clock.ts'
import type { UpstreamCall } from '../forward/upstream-call.ts'
import type { Priority } from '../options.ts'
import { CallQueue, type QueuedCall } from './call-queue.ts'

/**
 * Limits the number of concurrent calls, and of calls that are queued.
 *
 * A call is admitted (`admit`, only while the limit is not full), enters, at once or later (`enter`),
 * and leaves (`leave`). An admitted call that will not enter withdraws (`withdraw`). Queued calls enter in
 * the order of `CallQueue`: by priority, round-robin by caller, first come, first served.
 */
export class ConcurrencyLimit {
  readonly #concurrent: number
  /** Concurrent and queued calls together. */
  readonly #capacity: number
  readonly #queue = new CallQueue()
  #admitted = 0
  #running = 0

  constructor(concurrent: number, queue: number) {
    this.#concurrent = concurrent
    this.#capacity = concurrent + queue
  }

  /** Calls that have entered and not left. */
  get running(): number {
    return this.#running
  }

  /** Calls that are queued. */
  get queued(): number {
    return this.#queue.size
  }

  /** Whether an admitted call enters at once. */
  get hasRoom(): boolean {
    return this.#running < this.#concurrent
  }

  /** Whether no more calls can be admitted. */
  get isFull(): boolean {
    return this.#admitted >= this.#capacity
  }

  /** Reserves a place for a call, running or queued. */
  admit(): void {
    this.#admitted++
  }

  /**
   * Enters with an admitted call: at once, or when the promise resolves. The promise rejects with the
   * reason of the signal if that aborts first; the call has withdrawn then.
   */
  enter(
    caller: string,
    signal?: AbortSignal,
    priority: Priority = 'normal',
  ): Promise<void> | undefined {
    if (this.hasRoom) {
      this.#running++
      return undefined
    }
    if (signal?.aborted === true) {
      this.withdraw()
      return Promise.reject(signal.reason)
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#queue.remove(queued)
        this.withdraw()
        reject(signal?.reason)
      }
      const queued: QueuedCall = {
        caller,
        priority,
        enter: () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#queue.add(queued)
    })
  }

  /** Ends a call that has entered; the next queued call takes its place. */
  leave(): void {
    this.#admitted--
    this.#running--
    const next = this.#queue.next()
    if (next === undefined) return
    this.#running++
    next.enter()
  }

  /** Ends an admitted call that has not entered. */
  withdraw(): void {
    this.#admitted--
  }
}

/**
 * The time that one call is queued. Ends when the caller gives the call up, or at the timeout of the call:
 * then `makeError` makes the error for the caller.
 */
export class QueueWait {
  /** The name of the limit that the call is queued at. */
  limit = ''
  readonly #clock: Clock
  readonly #since: number
  readonly #controller = new AbortController()
  readonly #timer: Timer | undefined
  readonly #abort: AbortSignal

  constructor(
    { abort, timeoutMs }: Pick<UpstreamCall, 'abort' | 'timeoutMs'>,
    clock: Clock,
    makeError: (limit: string) => RpcError,
  ) {
    this.#clock = clock
    this.#since = clock.now()
    this.#abort = abort.signal
    this.#abort.addEventListener('abort', this.#onAbort, { once: true })
    if (this.#abort.aborted) this.#onAbort()
    if (timeoutMs > 0) {
      this.#timer = clock.start(() => this.#controller.abort(makeError(this.limit)), timeoutMs)
    }
  }

  /** Aborted when the call must not be queued any longer. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Ends the wait, and returns how long it was, in milliseconds. */
  end(): number {
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#abort.removeEventListener('abort', this.#onAbort)
    return this.#clock.now() - this.#since
  }

  #onAbort = (): void => this.#controller.abort(this.#abort.reason)
}
