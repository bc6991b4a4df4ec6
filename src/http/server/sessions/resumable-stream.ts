import { writeEvent, writeLine } from '../../../wire/sse.ts'
import type { EventStream, HttpReply, ReplyHeaders } from '../../exchange.ts'
import type { EventLog, StreamLog } from './event-log.ts'

/** What the streams of a session have in common. */
export interface OutletHost {
  readonly log: EventLog
  /**
   * Makes the id that is given for picking up a stream behind an event; absent where streams cannot be
   * picked up. With `connection` it is that of an empty event at the beginning of a connection.
   */
  readonly eventId?: (stream: number, sequence: number, connection?: number) => string
  /** Whether the client knows empty events. */
  readonly isPolling: boolean
  /** A connection has begun or ended. */
  onMoved(): void
  /** The stream has ended, and nothing of it is kept any more. */
  onForgotten(outlet: Outlet): void
}

/**
 * One stream of a session: what is written to it, and the connection it has at the moment, if any. A
 * stream outlives its connections.
 */
export class Outlet {
  readonly key: number
  readonly #host: OutletHost
  /** Whether what is written without a connection waits for the first one that comes. */
  readonly #waits: boolean
  readonly #log: StreamLog
  #stream: EventStream | undefined
  /** The number of the event that was last written to a connection. */
  #written = 0
  #connections = 0
  #isEnded = false

  constructor(key: number, host: OutletHost, options: { readonly waits?: boolean } = {}) {
    this.key = key
    this.#host = host
    this.#waits = options.waits ?? false
    this.#log = host.log.stream(() => this.#forgetIfOver())
  }

  get isConnected(): boolean {
    return this.#stream !== undefined
  }

  /** Gives it a connection, and to that what no connection has got yet. */
  connect(reply: HttpReply, headers: ReplyHeaders = {}): void {
    const { eventId, isPolling } = this.#host
    this.#written = Math.max(this.#written, this.#log.gone)
    const primer = isPolling && eventId !== undefined ? this.#primer(eventId) : ''
    this.#begin(reply, headers, primer + this.#unwritten())
    if (eventId === undefined) this.#log.clear()
  }

  /** Whether everything behind an event can still be told. */
  reaches(sequence: number): boolean {
    return this.#log.reaches(sequence)
  }

  /**
   * Goes on behind an event, on a new connection. One that it still has ends: the client knows better
   * that it is dead, and an event goes to one of them only.
   */
  resume(reply: HttpReply, sequence: number): void {
    this.#stream?.end()
    this.#written = sequence
    this.#begin(reply, {}, this.#unwritten())
    if (this.#isEnded) this.#disconnect()
  }

  /** Writes an event; without a connection it is kept for the next one, where that is possible. */
  write(data: string): void | Promise<void> {
    const { eventId } = this.#host
    if (this.#isEnded) return
    if (eventId === undefined) {
      if (this.#stream !== undefined) return this.#stream.write(writeLine(data, event))
      if (this.#waits) this.#log.add(data)
      return
    }
    const sequence = this.#log.add(data)
    if (this.#stream === undefined) return
    this.#written = sequence
    return this.#stream.write(writeLine(data, `${event}id: ${eventId(this.key, sequence)}\n`))
  }

  /**
   * Closes the connection and lets the client come back for the rest after a while. Returns whether
   * there was one to close, and a client that knows how to come back.
   */
  poll(retryMs: number): boolean {
    const { eventId, isPolling } = this.#host
    if (this.#stream === undefined || eventId === undefined || !isPolling) return false
    void this.#stream.write(this.#primer(eventId, retryMs))
    this.#disconnect()
    return true
  }

  /** Nothing more will be written. What is kept can still be asked for. */
  end(): void {
    this.#isEnded = true
    this.#disconnect()
    if (this.#host.eventId === undefined) this.#log.clear()
    this.#forgetIfOver()
  }

  /** Ends it for good: nothing can be asked for any more. */
  discard(): void {
    this.end()
    this.#log.clear()
  }

  #begin(reply: HttpReply, headers: ReplyHeaders, first: string): void {
    this.#connections++
    const stream = reply.stream(headers)
    if (first !== '') void stream.write(first)
    this.#stream = reply.isOver ? undefined : stream
    reply.onGone(() => {
      if (this.#stream === stream) this.#gone()
    })
    this.#host.onMoved()
  }

  /** What no connection has got yet; counts as written from now on. */
  #unwritten(): string {
    const { eventId } = this.#host
    let text = ''
    for (const { sequence, data } of this.#log.after(this.#written)) {
      this.#written = sequence
      const id = eventId === undefined ? '' : `id: ${eventId(this.key, sequence)}\n`
      text += writeLine(data, event + id)
    }
    return text
  }

  /** An event without data, whose id names the place where the connection is. */
  #primer(eventId: NonNullable<OutletHost['eventId']>, retry?: number): string {
    // Distinct from that of the event before, whose place it shares.
    const id = eventId(
      this.key,
      this.#written,
      this.#connections * 2 + (retry === undefined ? 0 : 1),
    )
    if (retry !== undefined) return writeEvent({ data: '', id, retry })
    return writeLine('', `id: ${id}\n`)
  }

  #disconnect(): void {
    if (this.#stream === undefined) return
    this.#stream.end()
    this.#gone()
  }

  #gone(): void {
    this.#stream = undefined
    this.#host.onMoved()
  }

  #forgetIfOver(): void {
    if (this.#isEnded && this.#log.size === 0) this.#host.onForgotten(this)
  }
}

// Told although it is what is meant without: some read the lines instead of the stream.
const event = 'event: message\n'
