import { readField } from '../../header-fields.ts'

/** The head of a response. */
export interface ResponseHead {
  readonly status: number
  readonly reason: string
  /** By their names in lower case. Headers that occur several times are joined by commas. */
  readonly headers: ReadonlyMap<string, string>
}

/** Receives what a ResponseParser finds. */
export interface ResponseSink {
  head(head: ResponseHead): void
  /** A piece of the body, as a view of the chunk it arrived in. */
  piece(bytes: Uint8Array): void
  /** The response is complete. With `isLast` no other can follow on the same connection. */
  end(isLast: boolean): void
  /** The response is invalid. Nothing follows, and the connection cannot be used any more. */
  invalid(why: string): void
}

/**
 * Parses the HTTP/1.1 responses on one connection, each after a `begin`. The same bytes in other chunks
 * give the same responses, though not the same pieces.
 *
 * Strict on purpose: if client and server disagree about where a response ends, the next one is taken
 * for the response to another request. Uncommon syntax is rejected. Buffers at most `maxHeadBytes`
 * outside of bodies.
 */
export class ResponseParser {
  readonly #sink: ResponseSink
  readonly #maxHeadBytes: number
  #state: State = 'silent'
  /** The incomplete line. */
  #text = ''
  /** Bytes of the lines of the head, or of the lines between two chunks of the body. */
  #lineBytes = 0
  #status = 0
  #reason = ''
  #headers = new Map<string, string>()
  #isLast = false
  /** Bytes of the body, or of the current chunk, that are still to come. */
  #left = 0

  constructor(sink: ResponseSink, maxHeadBytes: number) {
    this.#sink = sink
    this.#maxHeadBytes = maxHeadBytes
  }

  /** Expects a response. Bytes that arrive without a `begin` are an error. */
  begin(): void {
    this.#state = 'status'
    this.#lineBytes = 0
    this.#isLast = false
  }

  /** Ignores all further bytes. */
  stop(): void {
    this.#state = 'stopped'
    this.#text = ''
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      switch (this.#state) {
        case 'stopped':
          return
        case 'silent':
          this.#fail('bytes that belong to no request')
          return
        case 'body':
        case 'chunk':
          at = this.#take(chunk, at)
          break
        case 'rest':
          this.#sink.piece(at === 0 ? chunk : chunk.subarray(at))
          return
        default:
          at = this.#takeLine(chunk, at)
      }
    }
  }

  /**
   * The connection has ended. Returns whether this completes a response that ends with its connection.
   */
  finish(): boolean {
    if (this.#state !== 'rest') return false
    this.#state = 'silent'
    this.#sink.end(true)
    return true
  }

  #take(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left)
    this.#left -= end - at
    const isWhole = at === 0 && end === chunk.length
    if (this.#left > 0) this.#sink.piece(isWhole ? chunk : chunk.subarray(at, end))
    else if (this.#state === 'chunk') {
      this.#state = 'chunk end'
      this.#lineBytes = 0
      this.#sink.piece(chunk.subarray(at, end))
    } else {
      this.#sink.piece(isWhole ? chunk : chunk.subarray(at, end))
      this.#complete(end < chunk.length)
    }
    return end
  }

  #takeLine(chunk: Buffer, at: number): number {
    const feed = chunk.indexOf(lineFeed, at)
    const end = feed === -1 ? chunk.length : feed + 1
    this.#lineBytes += end - at
    if (this.#lineBytes > this.#maxHeadBytes) {
      this.#fail(`more than ${this.#maxHeadBytes} bytes of headers`)
      return chunk.length
    }
    if (feed === -1) {
      this.#text += chunk.toString('latin1', at, end)
      return end
    }
    let line = chunk.toString('latin1', at, feed)
    if (this.#text !== '') {
      line = this.#text + line
      this.#text = ''
    }
    if (line.endsWith('\r')) this.#line(line.slice(0, -1), end < chunk.length)
    else this.#fail('a line without a carriage return')
    return end
  }

  #line(line: string, hasMore: boolean): void {
    if (this.#state === 'status') this.#statusLine(line)
    else if (this.#state === 'size') this.#sizeLine(line)
    else if (this.#state === 'chunk end') {
      this.#state = 'size'
      if (line !== '') this.#fail('a chunk longer than its size')
    } else if (line === '') {
      if (this.#state === 'fields') this.#headEnds(hasMore)
      else this.#complete(hasMore)
    }
    // Trailers are ignored.
    else if (this.#state === 'fields') this.#field(line)
  }

  #statusLine(line: string): void {
    const found = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/.exec(line)
    if (found === null) {
      this.#fail('a status line that is not HTTP/1.1')
      return
    }
    this.#status = Number(found[2])
    this.#reason = found[3] ?? ''
    this.#headers = new Map()
    this.#isLast = found[1] === '0'
    this.#state = 'fields'
  }

  #field(line: string): void {
    const field = readField(line)
    if (typeof field === 'string') {
      this.#fail(field)
      return
    }
    const { name, value } = field
    const before = this.#headers.get(name)
    this.#headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }

  #headEnds(hasMore: boolean): void {
    const status = this.#status
    const headers = this.#headers
    if (status < 200) {
      // Interim responses mean nothing here, except a change of protocol.
      if (status === 101) this.#fail('a protocol upgrade')
      else this.#state = 'status'
      return
    }
    const connection = headers.get('connection')
    if (connection !== undefined && /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(connection)) {
      this.#isLast = true
    }
    const coding = headers.get('transfer-encoding')
    const length = headers.get('content-length')
    if (length !== undefined && !/^\d{1,15}$/.test(length)) {
      this.#fail('a content-length that is not a number')
    } else if (coding !== undefined && (length !== undefined || !/^chunked$/i.test(coding))) {
      this.#fail('a transfer-encoding other than chunked')
    } else {
      const isEmpty = status === 204 || status === 304
      this.#left = isEmpty ? 0 : Number(length ?? 0)
      this.#lineBytes = 0
      const isEmptyBody = isEmpty || (length !== undefined && this.#left === 0)
      this.#state = coding !== undefined ? 'size' : length !== undefined ? 'body' : 'rest'
      this.#sink.head({ status, reason: this.#reason, headers })
      // The receiver of the head may have stopped the parser.
      if (isEmptyBody && this.#isReading) this.#complete(hasMore)
    }
  }

  get #isReading(): boolean {
    return this.#state !== 'stopped'
  }

  #sizeLine(line: string): void {
    const found = /^([\da-f]{1,12})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?$/i.exec(line)
    if (found === null) {
      this.#fail('a chunk without a size')
      return
    }
    this.#left = Number.parseInt(found[1] ?? '', 16)
    this.#state = this.#left === 0 ? 'trailers' : 'chunk'
  }

  #complete(hasMore: boolean): void {
    if (!this.#isReading) return
    this.#state = 'silent'
    this.#sink.end(this.#isLast || hasMore)
  }

  #fail(why: string): void {
    this.stop()
    this.#sink.invalid(why)
  }
}

type State =
  /** Between responses. */
  | 'silent'
  | 'status'
  | 'fields'
  /** In a body of known length. */
  | 'body'
  /** In a body that ends with the connection. */
  | 'rest'
  /** Before a chunk, in it, after it, and after the last one. */
  | 'size'
  | 'chunk'
  | 'chunk end'
  | 'trailers'
  | 'stopped'

const lineFeed = 0x0a
