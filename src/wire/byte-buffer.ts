const minBytes = 256
// An idle connection keeps no more than this for its next frame.
const maxIdleBytes = 4096

/**
 * A growing buffer for the bytes of an unfinished frame.
 *
 * Bytes are copied in, so no chunk is kept alive, be it 64 KiB for its last ten bytes or one byte a
 * million times. The capacity doubles as needed, so the work is proportional to the bytes, however they
 * are split.
 */
export class ByteBuffer {
  readonly #maxBytes: number
  #bytes = new Uint8Array(0)
  #size = 0

  /** `maxBytes` is the most that the caller adds; the capacity never grows beyond it. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The number of bytes in the buffer. */
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

  /** Returns all bytes and empties the buffer. The returned array is valid until the next `add`. */
  take(): Uint8Array {
    const all = this.#bytes.subarray(0, this.#size)
    this.clear()
    return all
  }

  /** Empties the buffer. */
  clear(): void {
    this.#size = 0
    if (this.#bytes.length > maxIdleBytes) this.#bytes = new Uint8Array(0)
  }

  #grow(size: number): void {
    const doubled = Math.max(minBytes, this.#bytes.length * 2)
    const larger = new Uint8Array(Math.max(size, Math.min(doubled, this.#maxBytes)))
    larger.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = larger
  }
}
