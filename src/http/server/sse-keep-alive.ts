import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'
import { writeComment } from '../../wire/sse.ts'
import type { EventStream, HttpReply, ReplyHeaders } from '../exchange.ts'

/**
 * The open event streams of one service. Comments keep silent streams open, so that no proxy between
 * server and client takes them for dead.
 */
export class OpenStreams {
  readonly #keepAliveMs: number
  readonly #clock: Clock
  readonly #streams = new Set<TrackedStream>()
  #timer: Timer | undefined

  constructor(keepAliveMs: number = limits.keepAliveMs.default, clock: Clock = systemClock) {
    this.#keepAliveMs = keepAliveMs
    this.#clock = clock
  }

  get size(): number {
    return this.#streams.size
  }

  /** Ends all streams and stops the timer. */
  end(): void {
    for (const stream of [...this.#streams]) stream.end()
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#timer = undefined
  }

  /** Begins the event stream that is the response, and tracks it until it ends or its client disconnects. */
  open(reply: HttpReply, headers: ReplyHeaders): EventStream {
    const stream = new TrackedStream(reply.stream(headers), this.#streams)
    reply.onDisconnect(() => this.#streams.delete(stream))
    this.#streams.add(stream)
    this.#schedule()
    return stream
  }

  /**
   * Starts one timer for all streams. It keeps running for a while after the last stream has ended:
   * most streams end at once, and starting and stopping a timer for each costs more than the stream
   * itself.
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

const comment = writeComment('')

class TrackedStream implements EventStream {
  readonly #stream: EventStream
  /** The set that holds the stream until it ends. */
  readonly #open: Set<TrackedStream>
  #isSilent = true

  constructor(stream: EventStream, open: Set<TrackedStream>) {
    this.#stream = stream
    this.#open = open
  }

  write(text: string): void | Promise<void> {
    this.#isSilent = false
    return this.#stream.write(text)
  }

  end(): void {
    this.#open.delete(this)
    this.#stream.end()
  }

  /** Writes a comment, unless something else was written since the last call. */
  keepAlive(): void {
    if (this.#isSilent) void this.#stream.write(comment)
    this.#isSilent = true
  }
}
