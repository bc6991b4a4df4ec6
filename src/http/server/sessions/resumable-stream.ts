import { writeEvent, writeLine } from '../../../wire/sse.ts'
import type { EventStream, HttpReply, ReplyHeaders } from '../../exchange.ts'
import type { OpenStreams } from '../sse-keep-alive.ts'
import type { EventLog, StreamLog } from './event-log.ts'

/** What the streams of a session share. */
export interface StreamHost {
  readonly log: EventLog
  readonly streams: OpenStreams
  /**
   * Formats the id by which a client resumes a stream after an event; absent where streams are not
   * resumable. With `connection` the id is that of the priming event of a connection.
   */
  readonly eventId?: (stream: number, sequence: number, connection?: number) => string
  /** Whether the client supports events without data, which polling needs. */
  readonly canPoll: boolean
  /** Called when a connection has begun or ended. */
  onActivity(): void
  /** Called when the stream has ended and none of its events is kept any more. */
  onReleased(stream: ResumableStream): void
}

/**
 * An event stream of a session that outlives its connections. It has at most one connection at a time.
 */
export class ResumableStream {
  readonly key: number
  readonly #host: StreamHost
  /** Whether events written without a connection are kept for the first one. */
  readonly #buffersUntilConnected: boolean
  readonly #log: StreamLog
  #stream: EventStream | undefined
  /** The number of the event last written to a connection. */
  #written = 0
  #connections = 0
  #isEnded = false

  constructor(
    key: number,
    host: StreamHost,
    options: { readonly buffersUntilConnected?: boolean } = {},
  ) {
    this.key = key
    this.#host = host
    this.#buffersUntilConnected = options.buffersUntilConnected ?? false
    this.#log = host.log.stream(() => this.#releaseIfDone())
  }

  get isConnected(): boolean {
    return this.#stream !== undefined
  }

  /** Begins a connection and writes the events that no connection has got yet. */
  connect(reply: HttpReply, headers: ReplyHeaders = {}): void {
    const { eventId, canPoll } = this.#host
    this.#written = Math.max(this.#written, this.#log.lastDropped)
    const priming = canPoll && eventId !== undefined ? this.#primingEvent(eventId) : ''
    this.#begin(reply, headers, priming + this.#unwritten())
    if (eventId === undefined) this.#log.clear()
  }

  /** Whether every event after this one is still kept. */
  canResumeFrom(sequence: number): boolean {
    return this.#log.canReplayFrom(sequence)
  }

  /**
   * Continues after an event on a new connection. An existing connection ends: the client has noticed that
   * it is dead, and each event is sent on one connection only.
   */
  resume(reply: HttpReply, sequence: number): void {
    this.#stream?.end()
    this.#written = sequence
    this.#begin(reply, {}, this.#unwritten())
    if (this.#isEnded) this.#disconnect()
  }

  /**
   * Writes an event. Without a connection the event is kept for the next one, where the stream is
   * resumable.
   */
  write(data: string): void | Promise<void> {
    const { eventId } = this.#host
    if (this.#isEnded) return
    if (eventId === undefined) {
      if (this.#stream !== undefined) return this.#stream.write(writeLine(data, event))
      if (this.#buffersUntilConnected) this.#log.add(data)
      return
    }
    const sequence = this.#log.add(data)
    if (this.#stream === undefined) return
    this.#written = sequence
    return this.#stream.write(writeLine(data, `${event}id: ${eventId(this.key, sequence)}\n`))
  }

  /**
   * Closes the connection and asks the client to reconnect after `retryMs`. Returns false, and does
   * nothing, without a connection or for a client that does not support polling.
   */
  poll(retryMs: number): boolean {
    const { eventId, canPoll } = this.#host
    if (this.#stream === undefined || eventId === undefined || !canPoll) return false
    void this.#stream.write(this.#primingEvent(eventId, retryMs))
    this.#disconnect()
    return true
  }

  /** Ends the stream. Kept events can still be requested. */
  end(): void {
    this.#isEnded = true
    this.#disconnect()
    if (this.#host.eventId === undefined) this.#log.clear()
    this.#releaseIfDone()
  }

  /** Ends the stream and drops its events. */
  discard(): void {
    this.end()
    this.#log.clear()
  }

  #begin(reply: HttpReply, headers: ReplyHeaders, first: string): void {
    this.#connections++
    const stream = this.#host.streams.open(reply, headers)
    if (first !== '') void stream.write(first)
    this.#stream = reply.isFinished ? undefined : stream
    reply.onDisconnect(() => {
      if (this.#stream === stream) this.#disconnected()
    })
    this.#host.onActivity()
  }

  /** Returns the text of the events that no connection has got yet, and marks them as written. */
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

  /** Formats an event without data whose id is the current position. */
  #primingEvent(eventId: NonNullable<StreamHost['eventId']>, retry?: number): string {
    // Different from the id of the event before, which has the same position.
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
    this.#disconnected()
  }

  #disconnected(): void {
    this.#stream = undefined
    this.#host.onActivity()
  }

  #releaseIfDone(): void {
    if (this.#isEnded && this.#log.size === 0) this.#host.onReleased(this)
  }
}

// Sent although it is the default, because some clients read lines instead of parsing the stream.
const event = 'event: message\n'
