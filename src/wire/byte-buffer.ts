const minBytes = 256
// An idle connection keeps no more than this for its next frame.
const maxIdleBytes = 4096
const blockBytes = 64 * 1024
// Smaller chunks are copied, because each would cost far more than its bytes.
const minKeptBytes = 16 * 1024

/**
 * A growing buffer for the bytes of an unfinished frame.
 *
 * Large chunks are kept as they are, so that a long frame takes hardly more memory than it has bytes and
 * leaves no garbage. Others are copied into blocks, so that no chunk is kept alive for a part of it, be
 * it 64 KiB for its last ten bytes or one byte a million times. The work is proportional to the bytes,
 * however they are split.
 */
export class ByteBuffer {
  readonly #maxBytes: number
  /** The parts before the block. */
  #parts: Uint8Array[] = []
  #partsBytes = 0
  /** The memory that the parts take. */
  #partsCapacity = 0
  /** The block that chunks are copied into, and how much of it is used. */
  #block = new Uint8Array(0)
  #used = 0

  /** `maxBytes` is the most that the caller adds; no room is made for more. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The number of bytes in the buffer. */
  get size(): number {
    return this.#partsBytes + this.#used
  }

  /** The bytes of memory that the buffer takes. */
  get capacity(): number {
    return this.#partsCapacity + this.#block.length
  }

  /** Adds `bytes[start, end)`, which must not change before the buffer is emptied. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const size = end - start
    const isWhole = size === bytes.length
    if (size >= minKeptBytes && size * 2 >= bytes.buffer.byteLength) {
      this.#closeBlock()
      this.#addPart(isWhole ? bytes : bytes.subarray(start, end), bytes.buffer.byteLength)
      return
    }
    if (this.#used + size > blockBytes) this.#closeBlock()
    if (this.#used + size > this.#block.length) this.#grow(this.#used + size)
    this.#block.set(isWhole ? bytes : bytes.subarray(start, end), this.#used)
    this.#used += size
  }

  /** Returns all bytes and empties the buffer. The returned array is valid until the next `add`. */
  take(): Uint8Array {
    const all = this.#partsBytes === 0 ? this.#block.subarray(0, this.#used) : this.#join()
    this.clear()
    return all
  }

  /** Empties the buffer. */
  clear(): void {
    this.#used = 0
    if (this.#block.length > maxIdleBytes) this.#block = new Uint8Array(0)
    if (this.#partsBytes === 0) return
    this.#parts = []
    this.#partsBytes = 0
    this.#partsCapacity = 0
  }

  #grow(size: number): void {
    const doubled = Math.max(minBytes, this.#block.length * 2)
    const possible = Math.min(doubled, blockBytes, this.#maxBytes - this.#partsBytes)
    const larger = new Uint8Array(Math.max(size, possible))
    larger.set(this.#block.subarray(0, this.#used))
    this.#block = larger
  }

  #closeBlock(): void {
    if (this.#used === 0) return
    this.#addPart(this.#block.subarray(0, this.#used), this.#block.length)
    this.#block = new Uint8Array(0)
    this.#used = 0
  }

  #addPart(bytes: Uint8Array, capacity: number): void {
    this.#parts.push(bytes)
    this.#partsBytes += bytes.length
    this.#partsCapacity += capacity
  }

  #join(): Uint8Array {
    this.#closeBlock()
    const [first] = this.#parts
    if (first !== undefined && this.#parts.length === 1) return first
    const all = new Uint8Array(this.#partsBytes)
    let at = 0
    for (const part of this.#parts) {
      all.set(part, at)
      at += part.length
    }
    return all
  }
}
