import { ChannelError } from '../../jsonrpc/channel.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'
import { Room } from './room.ts'

export interface OutboxOptions {
  /** Unsent bytes at which senders are asked to wait. */
  readonly highWaterBytes?: number
  /** Unsent bytes at which one more message is too many. */
  readonly maxOutboundBytes?: number
  /** How long the other side may take nothing while senders wait. */
  readonly stallMs?: number
  readonly clock?: Clock
}

/** The owner of an outbox: what it must know, and whom it tells. */
export interface OutboxOwner {
  /** Bytes taken for sending that have not left this process: own buffers and those below. */
  unsent(): number
  /** The other side does not keep up. Called at most once; the owner closes the connection. */
  tooSlow(error: ChannelError): void
}

/**
 * Watches the bytes one connection has not sent yet; it holds none of them itself.
 *
 * For each message the owner calls `admit` before taking it and returns what `taken` returns; each
 * time bytes have left, by an event or the callback of a write, it calls `left`; at the end `close`.
 * A WebSocket answers `unsent` with its `bufferedAmount` and calls `left` in the callback of `send`.
 *
 * Above the high water senders get a promise, which resolves when the bytes are below it again. The
 * owner is told `'too-slow'` when a message comes while more than the limit is unsent, or when
 * nothing leaves for the stall time above the high water. A message that alone exceeds the limit
 * may go, and raises the limit by its size until there is room again. The timer exists only above
 * the high water.
 */
export class Outbox {
  readonly #owner: OutboxOwner
  readonly #highWaterBytes: number
  readonly #maxBytes: number
  readonly #stallMs: number
  readonly #clock: Clock
  readonly #room = new Room()
  #above = false
  #raisedBy = 0
  #lastUnsent = 0
  #progressAt = 0
  #timer: Timer | undefined
  #error: ChannelError | undefined

  constructor(owner: OutboxOwner, options: OutboxOptions = {}) {
    this.#owner = owner
    this.#highWaterBytes = options.highWaterBytes ?? limits.outboundHighWaterBytes.default
    this.#maxBytes = options.maxOutboundBytes ?? limits.outboundBytes.default
    this.#stallMs = options.stallMs ?? limits.stallMs.default
    this.#clock = options.clock ?? systemClock
  }

  /** Throws `'closed'` once closed, and `'too-slow'` if too much is unsent for one more message. */
  admit(): void {
    if (this.#error !== undefined) throw this.#error
    if (!this.#above) return
    const unsent = this.#owner.unsent()
    if (unsent <= this.#maxBytes + this.#raisedBy) return
    throw this.#tooSlow(`${unsent} bytes are waiting to be sent`)
  }

  /** Says that a message of this size was taken. A returned promise is for the sender. */
  taken(bytes: number): void | Promise<void> {
    const unsent = this.#owner.unsent()
    if (unsent <= this.#highWaterBytes) return
    // The largest one, not their sum: a row of large messages must not lift the limit for good.
    if (bytes > this.#maxBytes) this.#raisedBy = Math.max(this.#raisedBy, bytes)
    if (!this.#above) this.#rise()
    this.#lastUnsent = unsent
    return this.#room.wait()
  }

  /** Says that bytes may have left. Cheap while there is room. */
  left(): void {
    if (!this.#above) return
    const unsent = this.#owner.unsent()
    if (unsent <= this.#highWaterBytes) {
      this.#fall()
      this.#room.clear()
    } else if (unsent < this.#lastUnsent) {
      this.#progressAt = this.#clock.now()
    }
    this.#lastUnsent = unsent
  }

  /** Ends the watch: whoever waits is rejected with the error; from now on `admit` throws `'closed'`. */
  close(error: ChannelError): void {
    if (this.#error !== undefined) return
    const { code, message } = error
    this.#error = code === 'closed' ? error : new ChannelError('closed', message, { cause: error })
    this.#fall()
    this.#room.fail(error)
  }

  #rise(): void {
    this.#above = true
    this.#progressAt = this.#clock.now()
    this.#watch(this.#stallMs)
  }

  #fall(): void {
    this.#above = false
    this.#raisedBy = 0
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#timer = undefined
  }

  #watch(delayMs: number): void {
    this.#timer = this.#clock.start(this.#look, delayMs)
    // What is unsent keeps the process alive by itself, or nothing should.
    this.#timer.unref()
  }

  #look = (): void => {
    const idleMs = this.#clock.now() - this.#progressAt
    if (idleMs < this.#stallMs) this.#watch(this.#stallMs - idleMs)
    else this.#tooSlow(`nothing was taken for ${this.#stallMs} ms`)
  }

  #tooSlow(why: string): ChannelError {
    const error = new ChannelError('too-slow', `sending: the other side is too slow, ${why}`)
    this.close(error)
    this.#owner.tooSlow(error)
    return error
  }
}
