import type { FrameReader, FrameSink, Framing } from './frame.ts'
import { FrameBody } from './frame-body.ts'

/**
 * Length-prefix framing: each message follows its length in bytes as a 32-bit big-endian integer.
 *
 * A length of 0 is ignored.
 */
export const length: Framing = {
  name: 'length',
  reader: (sink, maxBytes) => new LengthReader(sink, maxBytes),
  write: text => {
    const body = encoder.encode(text)
    const frame = new Uint8Array(prefixBytes + body.length)
    new DataView(frame.buffer).setUint32(0, body.length)
    frame.set(body, prefixBytes)
    return frame
  },
}

const encoder = new TextEncoder()
const prefixBytes = 4

class LengthReader implements FrameReader {
  readonly #body: FrameBody
  #prefix = 0
  #prefixSize = 0

  constructor(sink: FrameSink, maxBytes: number) {
    this.#body = new FrameBody(sink, maxBytes)
  }

  get buffered(): number {
    return this.#body.buffered
  }

  push(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length) {
      at = this.#body.open ? this.#body.take(chunk, at) : this.#takePrefix(chunk, at)
    }
  }

  end(): boolean {
    const unfinished = this.#body.open || this.#prefixSize > 0
    this.#prefixSize = 0
    this.#prefix = 0
    this.#body.drop()
    return unfinished
  }

  #takePrefix(chunk: Uint8Array, start: number): number {
    let at = start
    for (; at < chunk.length && this.#prefixSize < prefixBytes; at++, this.#prefixSize++) {
      // Multiplied, because a shift would make a length with the top bit set negative.
      this.#prefix = this.#prefix * 256 + (chunk[at] ?? 0)
    }
    if (this.#prefixSize === prefixBytes) {
      const bodyBytes = this.#prefix
      this.#prefixSize = 0
      this.#prefix = 0
      this.#body.begin(bodyBytes)
    }
    return at
  }
}
