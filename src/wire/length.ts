import { Body } from './body.ts'
import type { FrameReader, FrameSink, Framing } from './frame.ts'

/**
 * Each message behind its length in bytes: four bytes, the highest first.
 *
 * A length of nought is passed over. A chunk may be used for something else once `push` has
 * returned.
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
  readonly #body: Body
  #prefix = 0
  #prefixSize = 0

  constructor(sink: FrameSink, maxBytes: number) {
    this.#body = new Body(sink, maxBytes)
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
      // Not shifted, because shifting makes a length with the top bit negative.
      this.#prefix = this.#prefix * 256 + (chunk[at] ?? 0)
    }
    if (this.#prefixSize === prefixBytes) {
      const announced = this.#prefix
      this.#prefixSize = 0
      this.#prefix = 0
      this.#body.announce(announced)
    }
    return at
  }
}
