import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'
import { writeComment } from '../../wire/sse.ts'
import type { EventStream, HttpReply, ReplyHeaders } from '../exchange.ts'

/**
 * The event streams of one service. Silent ones are kept open by comments, so that nobody between
 * here and the client takes them for dead.
 */
export class OpenStreams {
  readonly #keepAliveMs: number
  readonly #clock: Clock
  readonly #streams = new Set<Stream>()
  #timer: Timer | undefined

  constructor(keepAliveMs: number = limits.keepAliveMs.default, clock: Clock = systemClock) {
    this.#keepAliveMs = keepAliveMs
    this.#clock = clock
  }

  get size(): number {
    return this.#streams.size
  }

  /** The same way back, with these headers on whatever is answered; its stream is one of these. */
  kept(reply: HttpReply, headers: ReplyHeaders): HttpReply {
    return new KeptReply(reply, headers, this)
  }

  /** Ends all of them, and what is done for them. */
  end(): void {
    for (const stream of [...this.#streams]) stream.end()
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#timer = undefined
  }

  /** Keeps a stream until it ends or its reader goes. */
  keep(events: EventStream, reply: HttpReply): EventStream {
    const stream = new Stream(events, this.#streams)
    reply.onGone(() => this.#streams.delete(stream))
    this.#streams.add(stream)
    this.#schedule()
    return stream
  }

  /**
   * One timer for all of them. It goes on for a while when the last of them has ended: most end at
   * once, and to start and stop it for each costs more than what they carry.
   */
  #schedule(): void {
    if (this.#timer !== undefined) return
    this.#timer = this.#clock.start(() => {
      this.#timer = undefined
      for (const stream of this.#streams) stream.keepAlive()
      if (this.#streams.size > 0) this.#schedule()
    }, this.#keepAliveMs)
    this.#timer.unref()
  }
}

class KeptReply implements HttpReply {
  readonly #reply: HttpReply
  readonly #headers: ReplyHeaders
  readonly #streams: OpenStreams

  constructor(reply: HttpReply, headers: ReplyHeaders, streams: OpenStreams) {
    this.#reply = reply
    this.#headers = headers
    this.#streams = streams
  }

  get isOver(): boolean {
    return this.#reply.isOver
  }

  send(status: number, headers: ReplyHeaders, body?: string): void {
    this.#reply.send(status, this.#with(headers), body)
  }

  stream(headers: ReplyHeaders): EventStream {
    return this.#streams.keep(this.#reply.stream(this.#with(headers)), this.#reply)
  }

  onGone(listener: () => void): void {
    this.#reply.onGone(listener)
  }

  #with(headers: ReplyHeaders): ReplyHeaders {
    // Most requests come from no page, and have none of their own.
    return this.#headers === noHeaders ? headers : { ...this.#headers, ...headers }
  }
}

/** No headers, to be told from others without looking into them. */
export const noHeaders: ReplyHeaders = Object.freeze({})

const comment = writeComment('')

class Stream implements EventStream {
  readonly #stream: EventStream
  /** Where it is kept until it ends. */
  readonly #kept: Set<Stream>
  #isSilent = true

  constructor(stream: EventStream, kept: Set<Stream>) {
    this.#stream = stream
    this.#kept = kept
  }

  write(text: string): void | Promise<void> {
    this.#isSilent = false
    return this.#stream.write(text)
  }

  end(): void {
    this.#kept.delete(this)
    this.#stream.end()
  }

  /** Writes a comment, unless something else was written since it was last asked. */
  keepAlive(): void {
    if (this.#isSilent) void this.#stream.write(comment)
    this.#isSilent = true
  }
}
