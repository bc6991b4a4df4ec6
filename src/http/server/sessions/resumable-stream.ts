import { writeEvent, writeLine } from '../../../wire/sse.ts'
import type { EventStream, HttpReply, ReplyHeaders } from '../../exchange.ts'
import type { OpenStreams } from '../sse-keep-alive.ts'
import type { EventIds, EventPosition } from './event-ids.ts'
import type { EventLog, StreamLog } from './event-log.ts'
import type { EpochEnd, RestoredStream, StreamEvent } from './moving/stream-event.ts'

/** What the streams of a session share. */
export interface StreamHost {
  readonly log: EventLog
  readonly streams: OpenStreams
  /** The ids by which a client resumes a stream after an event; absent where streams are not resumable. */
  readonly ids?: EventIds | undefined
  /** Reports events to a store for other processes; undefined where there is none. */
  readonly report?: ((event: StreamEvent) => void) | undefined
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
  /** The number of the event last reported to the store. */
  #reported = 0
  /** The last events of earlier processes; undefined for a stream that has begun in this one. */
  #ends: readonly EpochEnd[] | undefined

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
    const { ids, canPoll, report } = this.#host
    this.#written = Math.max(this.#written, this.#log.lastDropped)
    const priming = canPoll && ids !== undefined ? this.#primingEvent(ids) : ''
    const unwritten = this.#unwritten()
    this.#begin(reply, headers, priming + unwritten)
    if (ids === undefined) this.#log.clear()
    else if (unwritten !== '') report?.({ type: 'sent', stream: this.key, sequence: this.#written })
  }

  /** Continues a stream of another process. Must be called before anything else. */
  restore({ events, ends, sent, isEnded }: RestoredStream): void {
    this.#ends = ends
    this.#written = sent
    this.#isEnded = isEnded
    for (const { sequence, data, before } of events) this.#log.restore(sequence, data, before)
    this.#reported = this.#log.last
  }

  /** Returns the events that are kept, and what else another process needs to continue the stream. */
  kept(epoch: number): StreamEvent[] {
    const { key: stream } = this
    const events: StreamEvent[] = []
    let before = this.#log.lastDropped
    for (const { sequence, data } of this.#log.after(before)) {
      const its = this.#ends?.find(({ end }) => sequence <= end)?.epoch ?? epoch
      const isSent = sequence <= this.#written
      events.push({
        type: 'event',
        stream,
        epoch: its,
        sequence,
        before,
        data,
        isSent,
        isLast: false,
      })
      before = sequence
    }
    if (this.#isEnded) events.push({ type: 'end', stream })
    return events
  }

  /**
   * Returns the number after which a client that has got this event is to continue; undefined for an event that was
   * never sent here. A client may have got events of an earlier process that are not known here: it continues with
   * those of the processes after.
   */
  numberOf({ epoch, sequence }: EventPosition): number | undefined {
    const current = this.#host.ids?.epoch ?? 0
    if (epoch === current) return sequence
    if (this.#ends === undefined || epoch > current) return undefined
    const known = this.#ends.findLast(end => end.epoch <= epoch)
    return Math.min(sequence, known?.end ?? 0)
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
   * resumable. `isReported` says whether a store for other processes needs it.
   */
  write(data: string, isReported = true): void | Promise<void> {
    return this.#write(data, isReported, false)
  }

  /** Writes the last event and ends the stream. */
  finish(data: string): void | Promise<void> {
    const wait = this.#write(data, true, true)
    this.#end()
    return wait
  }

  #write(data: string, isReported: boolean, isLast: boolean): void | Promise<void> {
    const { ids, report } = this.#host
    if (this.#isEnded) return
    if (ids === undefined) {
      if (this.#stream !== undefined) return this.#stream.write(writeLine(data, event))
      if (this.#buffersUntilConnected) this.#log.add(data)
      return
    }
    const sequence = this.#log.add(data)
    if (report !== undefined && isReported) {
      const isSent = this.#stream !== undefined
      const { epoch } = ids
      const before = this.#reported
      this.#reported = sequence
      report({ type: 'event', stream: this.key, epoch, sequence, before, data, isSent, isLast })
    }
    if (this.#stream === undefined) return
    this.#written = sequence
    return this.#stream.write(writeLine(data, `${event}id: ${ids.format(this.key, sequence)}\n`))
  }

  /**
   * Closes the connection and asks the client to reconnect after `retryMs`. Returns false, and does
   * nothing, without a connection or for a client that does not support polling.
   */
  poll(retryMs: number): boolean {
    const { ids, canPoll } = this.#host
    if (this.#stream === undefined || ids === undefined || !canPoll) return false
    void this.#stream.write(this.#primingEvent(ids, retryMs))
    this.#disconnect()
    return true
  }

  /** Ends the stream without a reply. Kept events can still be requested. */
  end(): void {
    const { ids, report } = this.#host
    if (ids !== undefined && !this.#isEnded) report?.({ type: 'end', stream: this.key })
    this.#end()
  }

  /** Ends the stream and drops its events. */
  discard(): void {
    this.#end()
    this.#log.clear()
  }

  #end(): void {
    this.#isEnded = true
    this.#disconnect()
    if (this.#host.ids === undefined) this.#log.clear()
    this.#releaseIfDone()
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
    const { ids } = this.#host
    let text = ''
    for (const { sequence, data } of this.#log.after(this.#written)) {
      this.#written = sequence
      const id = ids === undefined ? '' : `id: ${ids.format(this.key, sequence)}\n`
      text += writeLine(data, event + id)
    }
    return text
  }

  /** Formats an event without data whose id is the current position. */
  #primingEvent(ids: EventIds, retry?: number): string {
    // Different from the id of the event before, which has the same position.
    const id = ids.format(
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
