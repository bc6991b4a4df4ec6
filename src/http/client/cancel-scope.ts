import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Clock, Timer } from '../../util/time/clock.ts'
import { AbortHandle } from './transport/http-client.ts'

/**
 * Cancels a sequence of HTTP requests that serve one purpose: the current one and all that are begun
 * later.
 */
export class CancelScope {
  readonly #clock: Clock
  #current: AbortHandle | undefined
  #timer: Timer | undefined
  #isCancelled = false
  #reason: unknown
  #onCancel: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isCancelled(): boolean {
    return this.#isCancelled
  }

  /**
   * Returns the handle of the next request. Each request has its own, because aborting one must not
   * abort the next.
   */
  next(): AbortHandle {
    const handle = new AbortHandle()
    this.#current = handle
    if (this.#isCancelled) handle.abort(this.#reason)
    return handle
  }

  /** Aborts the current request; another may follow. */
  abortCurrent(reason: unknown): void {
    this.#current?.abort(reason)
  }

  /** Cancels the current request and all later ones. Idempotent. */
  cancel(reason: unknown = new ChannelError('outcome-unknown', 'cancelled')): void {
    if (this.#isCancelled) return
    this.#isCancelled = true
    this.#reason = reason
    this.release()
    this.#current?.abort(reason)
    this.#onCancel?.()
  }

  /** Cancels the scope after `ms`, unless it is released before. */
  cancelAfter(ms: number): void {
    if (this.#isCancelled || this.#timer !== undefined) return
    this.#timer = this.#clock.start(() => this.cancel(), ms)
  }

  /** Stops the timer of `cancelAfter`, because the work is done. */
  release(): void {
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#timer = undefined
  }

  /** Sets the only listener, which is called when the scope is cancelled. */
  onCancel(listener: (() => void) | undefined): void {
    this.#onCancel = listener
  }

  /**
   * Resolves after `ms` milliseconds, or as soon as the scope is cancelled. Only one wait at a time,
   * and no other listener meanwhile.
   */
  wait(ms: number): Promise<void> {
    if (this.#isCancelled) return Promise.resolve()
    return new Promise(resolve => {
      const done = () => {
        this.#clock.stop(timer)
        this.onCancel(undefined)
        resolve()
      }
      const timer = this.#clock.start(done, ms)
      this.onCancel(done)
    })
  }
}
