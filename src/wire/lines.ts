import { ByteBuffer } from './byte-buffer.ts'
import type { FrameReader, FrameSink, Framing } from './frame.ts'

/**
 * Line framing: one message per line (NDJSON).
 *
 * The reader ends a line only at the byte 0x0A, drops one 0x0D before it, and ignores lines of white
 * space. A text to write must not contain a line feed;
 * JSON without indentation never does.
 */
export const lines: Framing = {
  name: 'lines',
  reader: (sink, maxBytes) => new LineReader(sink, maxBytes),
  write: text => `${text}\n`,
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

class LineReader implements FrameReader {
  readonly #sink: FrameSink
  readonly #maxBytes: number
  // The unfinished line. The one byte over the limit can be the carriage return at its end.
  readonly #tail: ByteBuffer
  #skipping = false

  constructor(sink: FrameSink, maxBytes: number) {
    this.#sink = sink
    this.#maxBytes = maxBytes
    this.#tail = new ByteBuffer(maxBytes + 1)
  }

  get buffered(): number {
    return this.#tail.capacity
  }

  push(chunk: Uint8Array): void {
    let start = 0
    for (;;) {
      // The indexOf of Node's buffers is many times faster than a loop.
      const end = chunk.indexOf(lineFeed, start)
      if (end === -1) break
      this.#finish(chunk, start, end)
      start = end + 1
    }
    if (start < chunk.length) this.#keep(chunk, start)
  }

  end(): boolean {
    const unfinished = this.#skipping || this.#tail.size > 0
    this.#skipping = false
    this.#tail.clear()
    return unfinished
  }

  #finish(chunk: Uint8Array, start: number, end: number): void {
    if (this.#skipping) {
      this.#skipping = false
    } else if (this.#tail.size === 0) {
      this.#deliver(chunk, start, end)
    } else if (this.#tail.size + end - start > this.#maxBytes + 1) {
      this.#tail.clear()
      this.#sink.oversize()
    } else {
      this.#tail.add(chunk, start, end)
      const line = this.#tail.take()
      this.#deliver(line, 0, line.length)
    }
  }

  #deliver(bytes: Uint8Array, start: number, lineEnd: number): void {
    const end = lineEnd > start && bytes[lineEnd - 1] === carriageReturn ? lineEnd - 1 : lineEnd
    if (end - start > this.#maxBytes) this.#sink.oversize()
    else if (!isBlank(bytes, start, end)) this.#sink.frame(bytes, start, end)
  }

  #keep(chunk: Uint8Array, start: number): void {
    if (this.#skipping) return
    const over = this.#tail.size + chunk.length - start - this.#maxBytes
    if (over <= 0 || (over === 1 && chunk[chunk.length - 1] === carriageReturn)) {
      this.#tail.add(chunk, start, chunk.length)
    } else {
      this.#skipping = true
      this.#tail.clear()
      this.#sink.oversize()
    }
  }
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start
  while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === carriageReturn))
    at++
  return at === end
}
