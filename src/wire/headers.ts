import { limits } from '../util/limits/limits.ts'
import { ByteBuffer } from './byte-buffer.ts'
import type { FrameReader, FrameSink, Framing } from './frame.ts'
import { FrameBody } from './frame-body.ts'

/**
 * Header framing: each message follows a block of headers with its length, as in the Language Server
 * Protocol.
 *
 * Only Content-Length and the charset of Content-Type matter; other headers are ignored. An ambiguous
 * length breaks the stream, because guessing a frame boundary would allow message smuggling.
 */
export const headers: Framing = {
  name: 'headers',
  reader: (sink, maxBytes) => new HeaderReader(sink, maxBytes),
  write: text => {
    const body = encoder.encode(text)
    const head = encoder.encode(`Content-Length: ${body.length}\r\n\r\n`)
    const frame = new Uint8Array(head.length + body.length)
    frame.set(head)
    frame.set(body, head.length)
    return frame
  },
}

const encoder = new TextEncoder()
// A byte order mark stays in the text, where it makes an invalid header name.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const maxBlockBytes = limits.headerBytes.default
const lineFeed = 0x0a
const carriageReturn = 0x0d

class HeaderReader implements FrameReader {
  readonly #sink: FrameSink
  readonly #body: FrameBody
  readonly #tail = new ByteBuffer(maxBlockBytes)
  // Bytes of the complete lines of this block.
  #blockSize = 0
  #length: number | undefined
  #broken = false

  constructor(sink: FrameSink, maxBytes: number) {
    this.#sink = sink
    this.#body = new FrameBody(sink, maxBytes)
  }

  get buffered(): number {
    return this.#tail.capacity + this.#body.buffered
  }

  push(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length && !this.#broken) {
      at = this.#body.open ? this.#body.take(chunk, at) : this.#takeLine(chunk, at)
    }
  }

  end(): boolean {
    const unfinished = this.#body.open || this.#blockSize + this.#tail.size > 0
    this.#beginBlock()
    this.#tail.clear()
    this.#body.drop()
    return unfinished
  }

  #beginBlock(): void {
    this.#blockSize = 0
    this.#length = undefined
  }

  /** Reads one line of a block, or the part of it that is there; returns the position after it. */
  #takeLine(chunk: Uint8Array, start: number): number {
    const lineEnd = chunk.indexOf(lineFeed, start)
    const next = lineEnd === -1 ? chunk.length : lineEnd + 1
    if (this.#blockSize + this.#tail.size + next - start > maxBlockBytes) {
      this.#break(`headers over ${maxBlockBytes} bytes`)
    } else if (lineEnd === -1) {
      this.#tail.add(chunk, start, next)
    } else {
      this.#blockSize += this.#tail.size + next - start
      if (this.#tail.size === 0) {
        this.#line(chunk, start, lineEnd)
      } else {
        this.#tail.add(chunk, start, lineEnd)
        const line = this.#tail.take()
        this.#line(line, 0, line.length)
      }
    }
    return next
  }

  #line(bytes: Uint8Array, start: number, lineEnd: number): void {
    const end = lineEnd > start && bytes[lineEnd - 1] === carriageReturn ? lineEnd - 1 : lineEnd
    if (end === start) this.#endBlock()
    else this.#header(decoder.decode(bytes.subarray(start, end)))
  }

  #endBlock(): void {
    const bodyBytes = this.#length
    this.#beginBlock()
    if (bodyBytes === undefined) this.#break('no Content-Length')
    else this.#body.begin(bodyBytes)
  }

  #header(line: string): void {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    // A laxer reader would see the next header after a carriage return inside a line.
    const valid = /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) && !line.includes('\r')
    if (!valid) this.#break('invalid header line')
    else if (name === 'content-length') this.#contentLength(line.slice(colon + 1))
    else if (name === 'content-type') this.#contentType(line.slice(colon + 1))
  }

  #contentLength(value: string): void {
    const bodyBytes = /^[ \t]*[0-9]+[ \t]*$/.test(value) ? Number(value) : Number.NaN
    if (!Number.isSafeInteger(bodyBytes)) {
      this.#break('invalid Content-Length')
    } else if (this.#length !== undefined && this.#length !== bodyBytes) {
      this.#break('conflicting Content-Length headers')
    } else {
      this.#length = bodyBytes
    }
  }

  #contentType(value: string): void {
    for (const parameter of value.toLowerCase().split(';').slice(1)) {
      const [name = '', charset = ''] = parameter.split('=')
      if (name.trim() !== 'charset') continue
      if (!/^("utf-?8"|utf-?8)$/.test(charset.trim()))
        this.#break('unsupported charset: only utf-8 is accepted')
    }
  }

  #break(reason: string): void {
    // A Content-Type can have several charsets; only the first wrong one is reported.
    if (this.#broken) return
    this.#broken = true
    this.end()
    this.#sink.broken(reason)
  }
}
