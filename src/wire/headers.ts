import { limits } from '../util/limits/limits.ts'
import { Body } from './body.ts'
import type { FrameReader, FrameSink, Framing } from './frame.ts'
import { Gather } from './gather.ts'

/**
 * Each message behind a block of headers with its length, as language servers speak.
 *
 * Of the headers only Content-Length and the charset of Content-Type matter; the others are passed
 * over. Whatever leaves the length in doubt breaks the stream, because a boundary that was guessed
 * lets one side slip messages past the other. A chunk may be used for something else once `push`
 * has returned.
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
// A byte order mark stays, and makes a name that no header has.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const maxBlockBytes = limits.headerBytes.default
const lineFeed = 0x0a
const carriageReturn = 0x0d

class HeaderReader implements FrameReader {
  readonly #sink: FrameSink
  readonly #body: Body
  readonly #tail = new Gather(maxBlockBytes)
  // Bytes of the finished lines of this block.
  #blockSize = 0
  #length: number | undefined
  #broken = false

  constructor(sink: FrameSink, maxBytes: number) {
    this.#sink = sink
    this.#body = new Body(sink, maxBytes)
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

  /** Takes one line of a block, or the part of it that is there; returns where it ends. */
  #takeLine(chunk: Uint8Array, start: number): number {
    const lineEnd = chunk.indexOf(lineFeed, start)
    const next = lineEnd === -1 ? chunk.length : lineEnd + 1
    if (this.#blockSize + this.#tail.size + next - start > maxBlockBytes) {
      this.#break(`more than ${maxBlockBytes} bytes of headers`)
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
    const announced = this.#length
    this.#beginBlock()
    if (announced === undefined) this.#break('no Content-Length')
    else this.#body.announce(announced)
  }

  #header(line: string): void {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    // A carriage return inside a line is where a laxer reader would see the next header.
    const valid = /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) && !line.includes('\r')
    if (!valid) this.#break('a line that is no header')
    else if (name === 'content-length') this.#contentLength(line.slice(colon + 1))
    else if (name === 'content-type') this.#contentType(line.slice(colon + 1))
  }

  #contentLength(value: string): void {
    const announced = /^[ \t]*[0-9]+[ \t]*$/.test(value) ? Number(value) : Number.NaN
    if (!Number.isSafeInteger(announced)) {
      this.#break('a Content-Length that is no number of bytes')
    } else if (this.#length !== undefined && this.#length !== announced) {
      this.#break('two different Content-Lengths')
    } else {
      this.#length = announced
    }
  }

  #contentType(value: string): void {
    for (const parameter of value.toLowerCase().split(';').slice(1)) {
      const [name = '', charset = ''] = parameter.split('=')
      if (name.trim() !== 'charset') continue
      if (!/^("utf-?8"|utf-?8)$/.test(charset.trim())) this.#break('a charset other than utf-8')
    }
  }

  #break(why: string): void {
    // A Content-Type may name several charsets; the first that is wrong has said it all.
    if (this.#broken) return
    this.#broken = true
    this.end()
    this.#sink.broken(why)
  }
}
