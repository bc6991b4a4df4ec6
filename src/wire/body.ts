import type { FrameSink } from './frame.ts'
import { Gather } from './gather.ts'

/**
 * Takes the bytes of a frame whose length was announced.
 *
 * A frame that lies in one chunk is delivered out of it; any other is gathered as its bytes come,
 * so that an announcement alone reserves nothing. One over the limit is told at once and skipped.
 */
export class Body {
  readonly #sink: FrameSink
  readonly #maxBytes: number
  readonly #gather: Gather
  #left = 0
  #skipping = false

  constructor(sink: FrameSink, maxBytes: number) {
    this.#sink = sink
    this.#maxBytes = maxBytes
    this.#gather = new Gather(maxBytes)
  }

  /** Whether bytes of the announced frame are still to come. */
  get open(): boolean {
    return this.#left > 0
  }

  /** Begins a frame of this many bytes. One of no bytes is passed over. */
  announce(bytes: number): void {
    this.#left = bytes
    this.#skipping = bytes > this.#maxBytes
    if (this.#skipping) this.#sink.oversize()
  }

  /** Takes what belongs to the frame, from `at` on; returns where the rest of the chunk begins. */
  take(chunk: Uint8Array, at: number): number {
    const end = Math.min(at + this.#left, chunk.length)
    this.#left -= end - at
    if (this.#skipping) return end
    if (this.#left === 0 && this.#gather.size === 0) {
      this.#sink.frame(chunk, at, end)
      return end
    }
    this.#gather.add(chunk, at, end)
    if (this.#left === 0) {
      const frame = this.#gather.take()
      this.#sink.frame(frame, 0, frame.length)
    }
    return end
  }

  /** Gives up the frame being taken. */
  drop(): void {
    this.#left = 0
    this.#gather.clear()
  }
}
