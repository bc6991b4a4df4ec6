const smallest = 256
// An idle connection keeps no more than this for its next frame.
const kept = 4096

/**
 * Holds the bytes of something unfinished until the rest has come.
 *
 * Everything is copied in, so nothing of a chunk is kept alive, be it 64 KiB for the sake of its
 * last ten bytes or one byte a million times over. The room doubles as needed: the work stays in
 * proportion to the bytes, in whatever pieces they come.
 */
export class Gather {
  readonly #maxBytes: number
  #bytes = new Uint8Array(0)
  #size = 0

  /** `maxBytes` is what the caller will add at most; the room never grows beyond it. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get size(): number {
    return this.#size
  }

  /** Adds a copy of `bytes[start, end)`. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const size = this.#size + end - start
    if (size > this.#bytes.length) this.#grow(size)
    const whole = start === 0 && end === bytes.length
    this.#bytes.set(whole ? bytes : bytes.subarray(start, end), this.#size)
    this.#size = size
  }

  /** Gives out everything in one piece and begins anew. The piece is valid until the next add. */
  take(): Uint8Array {
    const all = this.#bytes.subarray(0, this.#size)
    this.clear()
    return all
  }

  clear(): void {
    this.#size = 0
    if (this.#bytes.length > kept) this.#bytes = new Uint8Array(0)
  }

  #grow(size: number): void {
    const doubled = Math.max(smallest, this.#bytes.length * 2)
    const larger = new Uint8Array(Math.max(size, Math.min(doubled, this.#maxBytes)))
    larger.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = larger
  }
}
