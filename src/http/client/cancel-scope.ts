import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Clock, Timer } from '../../util/time/clock.ts'
import { Hold } from './transport/http-client.ts'

/**
 * Holds what runs over HTTP for one purpose, request after request, so that it can be cut at any time:
 * what runs then, and whatever is begun afterwards.
 */
export class Leash {
  readonly #clock: Clock
  #current: Hold | undefined
  #timer: Timer | undefined
  #isCut = false
  #reason: unknown
  #onCut: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isCut(): boolean {
    return this.#isCut
  }

  /** For the next request, which must not share the end of the one before it. */
  next(): Hold {
    const hold = new Hold()
    this.#current = hold
    if (this.#isCut) hold.drop(this.#reason)
    return hold
  }

  /** Ends the request that runs; another may follow. */
  drop(reason: unknown): void {
    this.#current?.drop(reason)
  }

  /** Ends everything. Idempotent. */
  cut(reason: unknown = new ChannelError('outcome-unknown', 'given up')): void {
    if (this.#isCut) return
    this.#isCut = true
    this.#reason = reason
    this.let()
    this.#current?.drop(reason)
    this.#onCut?.()
  }

  /** Cuts it after a while, unless it is let go before. */
  cutAfter(ms: number): void {
    if (this.#isCut || this.#timer !== undefined) return
    this.#timer = this.#clock.start(() => this.cut(), ms)
  }

  /** Lets go: what is over need not be cut. */
  let(): void {
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#timer = undefined
  }

  /** Calls `listener`, the one there is, when it is cut. */
  onCut(listener: (() => void) | undefined): void {
    this.#onCut = listener
  }

  /** Waits, but not longer than until it is cut. One wait at a time, and no listener besides. */
  wait(ms: number): Promise<void> {
    if (this.#isCut) return Promise.resolve()
    return new Promise(resolve => {
      const over = () => {
        this.#clock.stop(timer)
        this.onCut(undefined)
        resolve()
      }
      const timer = this.#clock.start(over, ms)
      this.onCut(over)
    })
  }
}
