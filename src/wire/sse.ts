import { ByteBuffer } from './byte-buffer.ts'

/** An event to write. */
export interface OutgoingEvent {
  readonly data: string
  /** The event type; receivers use `message` if it is absent. */
  readonly event?: string
  readonly id?: string
  /** The reconnection delay of the receiver in milliseconds. */
  readonly retry?: number
}

/**
 * Returns the text of an event (WHATWG HTML, "Server-sent events").
 *
 * Each line of the data becomes its own field, so CR and CRLF arrive as LF. Throws a TypeError for an
 * `id` or `event` with CR, LF or NUL, which would begin another field or be ignored, and for a `retry`
 * that is not a non-negative integer.
 */
export function writeEvent({ data, event, id, retry }: OutgoingEvent): string {
  let text = ''
  if (event !== undefined) text += `event: ${oneLine('event', event)}\n`
  if (id !== undefined) text += `id: ${oneLine('id', id)}\n`
  if (retry !== undefined) {
    if (!Number.isSafeInteger(retry) || retry < 0) {
      throw new TypeError('the retry of an event must be a non-negative integer')
    }
    text += `retry: ${retry}\n`
  }
  return `${text}data: ${data.replace(lineEnds, '\ndata: ')}\n\n`
}

/**
 * Returns the text of an event whose data is known to be a single line, as JSON is; faster than
 * `writeEvent`, because nothing is checked. `fields` are the lines before the data, each with its line
 * feed.
 */
export function writeLine(line: string, fields = ''): string {
  return `${fields}data: ${line}\n\n`
}

/** Returns the text of a comment, which receivers ignore: it keeps an idle connection open. */
export function writeComment(text: string): string {
  return `: ${text.replace(lineEnds, '\n: ')}\n\n`
}

/** An event that was read. */
export interface IncomingEvent {
  readonly data: string
  /** The event type; `message` if none was given. */
  readonly event: string
  /** The last id up to and including this event; `''` if there was none. */
  readonly id: string
  /**
   * Whether the data was not valid UTF-8 and was decoded with U+FFFD, as the standard requires. A
   * receiver that needs the exact text, as for JSON, must reject such an event.
   */
  readonly damaged: boolean
}

/** Receives the events that a reader finds. None of these methods may throw. */
export interface SseSink {
  event(event: IncomingEvent): void
  /** The reconnection delay in milliseconds; never more than a timer accepts. */
  retry?(ms: number): void
  /** An event over the limit. Called once; nothing follows, even if more is pushed. */
  oversize(): void
}

/**
 * Parses an event stream incrementally. The events do not depend on how the bytes are split into
 * chunks.
 *
 * An event without data is not delivered, but its id counts; an event with an empty `data` field is
 * delivered with empty data. Buffers at most `maxBytes` for the data of the unfinished event and the
 * unfinished line together.
 */
export class SseReader {
  readonly #sink: SseSink
  readonly #maxBytes: number
  readonly #tail: ByteBuffer
  // The data of the event so far, with a line feed after each line.
  readonly #data: ByteBuffer
  #type = ''
  #id = ''
  #lastEventId = ''
  // Whether the last byte was a carriage return, whose line feed may follow.
  #afterReturn = false
  #atStart = true
  #closed = false

  constructor(sink: SseSink, maxBytes: number) {
    this.#sink = sink
    this.#maxBytes = maxBytes
    this.#tail = new ByteBuffer(maxBytes)
    this.#data = new ByteBuffer(maxBytes)
  }

  /** The id to resume after: that of the last complete event, delivered or not. */
  get lastEventId(): string {
    return this.#lastEventId
  }

  /** Parses a chunk. */
  push(chunk: Uint8Array): void {
    if (this.#closed || chunk.length === 0) return
    let start = this.#afterReturn && chunk[0] === lineFeed ? 1 : 0
    this.#afterReturn = false
    let feed = chunk.indexOf(lineFeed, start)
    let back = chunk.indexOf(carriageReturn, start)
    // Each search runs again only after its match was passed, so that together they read every byte
    // once.
    while (feed !== -1 || back !== -1) {
      const end = feed === -1 || (back !== -1 && back < feed) ? back : feed
      this.#finish(chunk, start, end)
      if (this.#closed) return
      start = end + 1
      if (end === back) {
        if (start === chunk.length) this.#afterReturn = true
        else if (chunk[start] === lineFeed) start++
        back = chunk.indexOf(carriageReturn, start)
      }
      if (feed !== -1 && feed < start) feed = chunk.indexOf(lineFeed, start)
    }
    if (start < chunk.length && this.#fits(chunk.length - start)) {
      this.#tail.add(chunk, start, chunk.length)
    }
  }

  /** Ends the stream; returns whether an unfinished event was left, and drops it. */
  end(): boolean {
    const unfinished = this.#tail.size + this.#data.size > 0
    this.#close()
    return unfinished
  }

  #close(): void {
    this.#closed = true
    this.#tail.clear()
    this.#data.clear()
  }

  /** Whether this many more bytes of the line are within the limit; if not, the stream is closed. */
  #fits(bytes: number): boolean {
    if (this.#data.size + this.#tail.size + bytes <= this.#maxBytes) return true
    this.#close()
    this.#sink.oversize()
    return false
  }

  #finish(chunk: Uint8Array, start: number, end: number): void {
    if (!this.#fits(end - start)) return
    if (this.#tail.size === 0) {
      this.#line(chunk, start, end)
    } else {
      this.#tail.add(chunk, start, end)
      const line = this.#tail.take()
      this.#line(line, 0, line.length)
    }
  }

  #line(bytes: Uint8Array, lineStart: number, end: number): void {
    const start = this.#atStart ? skipBom(bytes, lineStart, end) : lineStart
    this.#atStart = false
    if (start === end) this.#dispatch()
    else this.#field(bytes, start, end)
  }

  #field(bytes: Uint8Array, start: number, end: number): void {
    // No field name is longer than five letters, so the rest of a long line is not searched for the
    // colon.
    let name = ''
    let at = start
    for (; at < end && bytes[at] !== colon && name.length <= 5; at++) {
      name += String.fromCharCode(bytes[at] ?? 0)
    }
    if (at < end && bytes[at] === colon) at++
    if (at < end && bytes[at] === space) at++
    if (name === 'data') this.#appendData(bytes, at, end)
    else if (name === 'event') this.#type = lenient.decode(bytes.subarray(at, end))
    else if (name === 'id') this.#setId(lenient.decode(bytes.subarray(at, end)))
    else if (name === 'retry') this.#retry(lenient.decode(bytes.subarray(at, end)))
  }

  #appendData(bytes: Uint8Array, start: number, end: number): void {
    this.#data.add(bytes, start, end)
    this.#data.add(separator, 0, 1)
  }

  #setId(id: string): void {
    if (!id.includes('\0')) this.#id = id
  }

  #retry(value: string): void {
    if (/^[0-9]+$/.test(value)) this.#sink.retry?.(Math.min(Number(value), longestTimerMs))
  }

  #dispatch(): void {
    this.#lastEventId = this.#id
    const event = this.#type === '' ? 'message' : this.#type
    this.#type = ''
    if (this.#data.size === 0) return
    const bytes = this.#data.take()
    const { text, damaged } = decode(bytes.subarray(0, -1))
    this.#sink.event({ data: text, event, id: this.#id, damaged })
  }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const colon = 0x3a
const separator = Uint8Array.of(lineFeed)
const lineEnds = /\r\n|\r|\n/g
const longestTimerMs = 2 ** 31 - 1
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

function oneLine(field: string, value: string): string {
  if (/[\r\n\0]/.test(value)) throw new TypeError(`the ${field} of an event must be one line`)
  return value
}

/** Returns the start of the line after a byte order mark. */
function skipBom(bytes: Uint8Array, start: number, end: number): number {
  const marked =
    end - start >= 3 &&
    bytes[start] === 0xef &&
    bytes[start + 1] === 0xbb &&
    bytes[start + 2] === 0xbf
  return marked ? start + 3 : start
}

function decode(bytes: Uint8Array): { text: string; damaged: boolean } {
  try {
    return { text: strict.decode(bytes), damaged: false }
  } catch {
    return { text: lenient.decode(bytes), damaged: true }
  }
}
