import { ByteBuffer } from './byte-buffer.ts'
import type { FrameSink } from './frame.ts'

/**
 * Reads the body of a frame whose length is known.
 *
 * A frame that lies in one chunk is delivered from it; any other is buffered as its bytes arrive, so
 * that a declared length alone allocates nothing. A frame over the limit is reported at once and
 * skipped.
 */
export class FrameBody {
  readonly #sink: FrameSink
  readonly #maxBytes: number
  readonly #buffer: ByteBuffer
  #left = 0
  #skipping = false

  constructor(sink: FrameSink, maxBytes: number) {
    this.#sink = sink
    this.#maxBytes = maxBytes
    this.#buffer = new ByteBuffer(maxBytes)
  }

  /** Whether bytes of the current frame are still to come. */
  get open(): boolean {
    return this.#left > 0
  }

  /** The bytes of memory that the current frame takes. */
  get buffered(): number {
    return this.#buffer.capacity
  }

  /** Begins a frame of this many bytes. A frame of 0 bytes is ignored. */
  begin(bytes: number): void {
    this.#left = bytes
    this.#skipping = bytes > this.#maxBytes
    if (this.#skipping) this.#sink.oversize()
  }

  /** Reads the bytes of the frame from `at` on; returns the position of the first byte after them. */
  take(chunk: Uint8Array, at: number): number {
    const end = Math.min(at + this.#left, chunk.length)
    this.#left -= end - at
    if (this.#skipping) return end
    if (this.#left === 0 && this.#buffer.size === 0) {
      this.#sink.frame(chunk, at, end)
      return end
    }
    this.#buffer.add(chunk, at, end)
    if (this.#left === 0) {
      const frame = this.#buffer.take()
      this.#sink.frame(frame, 0, frame.length)
    }
    return end
  }

  /** Drops the current frame. */
  drop(): void {
    this.#left = 0
    this.#buffer.clear()
  }
}
