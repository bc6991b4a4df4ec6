import { ChannelError } from '../../jsonrpc/channel.ts'
import { limits } from '../../util/limits/limits.ts'
import type { HeldBytes, Holding } from '../../util/sockets/held-bytes.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'

/** Limits of the unsent bytes of a connection. */
export interface BackpressureOptions {
  /** Unsent bytes above which `send` returns a promise to wait for. */
  readonly highWaterBytes?: number
  /** Unsent bytes above which a further message closes the connection as too slow. */
  readonly maxOutboundBytes?: number
  /**
   * Milliseconds without progress above the high-water mark after which the connection closes as too
   * slow.
   */
  readonly stallMs?: number
  /**
   * @internal Counts the unsent bytes of a listener's connections. Each of them is then also watched for stalls
   * below the high-water mark, and beyond the budget those above it close as too slow.
   */
  readonly held?: HeldBytes
  /** The clock for stalls; for tests. */
  readonly clock?: Clock
}

/** The connection that a Backpressure watches. */
export interface BackpressureOwner {
  /**
   * Returns the accepted bytes that have not left this process, in its own buffers and those of the
   * system.
   */
  unsent(): number
  /** Returns the bytes that these take in memory, if that is more: of messages that were partly sent. */
  retained?(): number
  /** The peer does not keep up. Called at most once; the owner closes the connection. */
  tooSlow(error: ChannelError): void
}

/**
 * Applies backpressure based on the unsent bytes of a connection; it buffers nothing itself.
 *
 * For each message the owner calls `admit` before accepting it and returns the value of `added`; each
 * time bytes have been sent, by an event or the callback of a write, it calls `progressed`; at the end
 * `close`. A WebSocket returns its `bufferedAmount` from `unsent` and calls `progressed` in the
 * callback of `send`.
 *
 * Above the high-water mark senders get a promise, which resolves when the unsent bytes fall below it.
 * The owner gets `tooSlow` when a message comes while more than the limit is unsent, or when nothing is
 * sent for the stall time above the high-water mark. A message that alone exceeds the limit is
 * accepted, and raises the limit by its size until the connection has drained. The timer exists only
 * above the high-water mark.
 */
export class Backpressure {
  readonly #owner: BackpressureOwner
  readonly #highWaterBytes: number
  /** Unsent bytes above which the connection is watched. */
  readonly #watchBytes: number
  readonly #held: HeldBytes | undefined
  readonly #holding: Holding | undefined
  readonly #maxBytes: number
  readonly #stallMs: number
  readonly #clock: Clock
  readonly #drain = new DrainSignal()
  #above = false
  #raisedBy = 0
  #lastUnsent = 0
  #progressAt = 0
  #timer: Timer | undefined
  #error: ChannelError | undefined

  constructor(owner: BackpressureOwner, options: BackpressureOptions = {}) {
    this.#owner = owner
    this.#highWaterBytes = options.highWaterBytes ?? limits.outboundHighWaterBytes.default
    const { held } = options
    const watched = held === undefined ? Number.POSITIVE_INFINITY : watchedBytes
    this.#watchBytes = Math.min(this.#highWaterBytes, watched)
    this.#held = held
    this.#holding = held?.hold(() => void this.#tooSlow('others need its memory'))
    this.#maxBytes = options.maxOutboundBytes ?? limits.outboundBytes.default
    this.#stallMs = options.stallMs ?? limits.stallMs.default
    this.#clock = options.clock ?? systemClock
  }

  /**
   * Throws a ChannelError `'closed'` once closed, and `'too-slow'` if too much is unsent for a further
   * message.
   */
  admit(): void {
    if (this.#error !== undefined) throw this.#error
    if (!this.#above) return
    const unsent = this.#owner.unsent()
    const isOver = this.#held?.isOver === true && unsent > this.#highWaterBytes
    if (unsent <= this.#maxBytes + this.#raisedBy && !isOver) return
    throw this.#tooSlow(`${unsent} bytes are waiting to be sent`)
  }

  /** Reports that a message of this size was accepted. A returned promise is for the sender. */
  added(bytes: number): void | Promise<void> {
    const unsent = this.#owner.unsent()
    if (unsent <= this.#watchBytes) return
    // By the largest message, not their sum: a series of large messages must not raise the limit
    // forever.
    if (bytes > this.#maxBytes) this.#raisedBy = Math.max(this.#raisedBy, bytes)
    if (!this.#above) this.#rise()
    this.#lastUnsent = unsent
    this.#holding?.set(this.#owner.retained?.() ?? unsent)
    if (unsent > this.#highWaterBytes) return this.#drain.wait()
  }

  /** Reports that bytes may have been sent. Cheap below the high-water mark. */
  progressed(): void {
    if (!this.#above) return
    const unsent = this.#owner.unsent()
    if (unsent <= this.#highWaterBytes) this.#drain.clear()
    if (unsent <= this.#watchBytes) this.#fall()
    else {
      if (unsent < this.#lastUnsent) {
        this.#progressAt = this.#clock.now()
        this.#holding?.progressed()
      }
      this.#holding?.set(this.#owner.retained?.() ?? unsent)
    }
    this.#lastUnsent = unsent
  }

  /**
   * Stops watching: waiting senders are rejected with the error; from now on `admit` throws `'closed'`.
   */
  close(error: ChannelError): void {
    if (this.#error !== undefined) return
    const { code, message } = error
    this.#error = code === 'closed' ? error : new ChannelError('closed', message, { cause: error })
    this.#fall()
    this.#drain.fail(error)
  }

  #rise(): void {
    this.#above = true
    this.#progressAt = this.#clock.now()
    this.#watch(this.#stallMs)
  }

  #fall(): void {
    this.#above = false
    this.#raisedBy = 0
    this.#holding?.set(0)
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#timer = undefined
  }

  #watch(delayMs: number): void {
    this.#timer = this.#clock.start(this.#checkStall, delayMs)
    // Unsent bytes keep the process alive themselves, if anything should.
    this.#timer.unref()
  }

  #checkStall = (): void => {
    const idleMs = this.#clock.now() - this.#progressAt
    if (idleMs < this.#stallMs) this.#watch(this.#stallMs - idleMs)
    else this.#tooSlow(`it accepted nothing for ${this.#stallMs} ms`)
  }

  #tooSlow(reason: string): ChannelError {
    const error = new ChannelError('too-slow', `sending: the peer is too slow, ${reason}`)
    this.close(error)
    this.#owner.tooSlow(error)
    return error
  }
}

/** Unsent bytes of a listener's connection above which it is watched. Most connections never have as many. */
const watchedBytes = 16 * 1024

/**
 * A promise that all senders of a congested connection wait for.
 *
 * A sender can ignore the promise; its rejection is then not reported as unhandled.
 */
export class DrainSignal {
  #promise: Promise<void> | undefined
  #resolve: () => void = nothing
  #reject: (error: Error) => void = nothing

  /** Returns the promise that resolves with the next `clear` and rejects with the next `fail`. */
  wait(): Promise<void> {
    if (this.#promise === undefined) {
      this.#promise = new Promise((resolve, reject) => {
        this.#resolve = resolve
        this.#reject = reject
      })
      this.#promise.catch(nothing)
    }
    return this.#promise
  }

  /** Resolves the promise: sending can continue. */
  clear(): void {
    this.#resolve()
    this.#promise = undefined
  }

  /** Rejects the promise: nothing can be sent any more. */
  fail(error: Error): void {
    this.#reject(error)
    this.#promise = undefined
  }
}

function nothing(): void {}
