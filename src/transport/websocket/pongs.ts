import { ChannelError } from '../../jsonrpc/channel.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'
import type { BackpressureOptions } from '../stream/backpressure.ts'
import type { WebSocket } from './ws.ts'

/** The connection whose pings a Pongs answers. */
export interface PongsOwner {
  /** The system has accepted a pong. */
  accepted(): void
  /** The peer sends pings and does not read the pongs. The owner closes the connection. */
  tooSlow(error: ChannelError): void
}

/**
 * Answers the pings of a WebSocket, and keeps at most two in memory, however many the peer sends: while
 * one pong is unsent, only the latest further ping is kept and answered after it, as RFC 6455 allows.
 *
 * A peer that keeps sending pings and accepts no pong for the stall time is too slow.
 */
export class Pongs {
  readonly #ws: WebSocket
  readonly #owner: PongsOwner
  readonly #stallMs: number
  readonly #clock: Clock
  #isClosed = false
  #isUnsent = false
  #latest: Buffer | undefined
  #timer: Timer | undefined

  constructor(ws: WebSocket, owner: PongsOwner, options: BackpressureOptions) {
    this.#ws = ws
    this.#owner = owner
    this.#stallMs = options.stallMs ?? limits.stallMs.default
    this.#clock = options.clock ?? systemClock
  }

  /** Answers a ping with its data, now or when there is room. */
  answer(data: Buffer): void {
    if (this.#isClosed) return
    if (!this.#isUnsent) {
      this.#send(data)
      return
    }
    this.#latest = data
    if (this.#timer !== undefined) return
    this.#timer = this.#clock.start(this.#stalled, this.#stallMs)
    this.#timer.unref()
  }

  /** Stops waiting; nothing is answered any more. */
  close(): void {
    this.#isClosed = true
    this.#latest = undefined
    this.#stopTimer()
  }

  #send(data: Buffer): void {
    this.#isUnsent = true
    this.#ws.pong(data, undefined, this.#onAccepted)
  }

  readonly #onAccepted = (error?: Error | null): void => {
    if (error) return
    this.#stopTimer()
    this.#isUnsent = false
    const data = this.#latest
    this.#latest = undefined
    if (data !== undefined) this.#send(data)
    this.#owner.accepted()
  }

  readonly #stalled = (): void => {
    this.#timer = undefined
    const reason = `it sends pings and accepted nothing for ${this.#stallMs} ms`
    this.#owner.tooSlow(new ChannelError('too-slow', `sending: the peer is too slow, ${reason}`))
  }

  #stopTimer(): void {
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#timer = undefined
  }
}
