/**
 * Collects the chunks of a body. Large ones are kept as they are; small ones, each of which costs far
 * more than the bytes it may hold, are copied into blocks. So the memory stays near the number of bytes,
 * however the client splits them, and nothing is copied twice before the end.
 */
export class BodyBlocks {
  #blocks: Uint8Array[] = []
  /** The block that small chunks are copied into, and how much of it is used. */
  #open: Uint8Array | undefined
  #used = 0
  #size = 0
  #capacity = 0

  /** The bytes of memory that the body takes. */
  get capacity(): number {
    return this.#capacity
  }

  /** The number of bytes collected. */
  get size(): number {
    return this.#size
  }

  add(chunk: Uint8Array): void {
    this.#size += chunk.length
    if (chunk.length >= minLarge) {
      this.#closeBlock()
      this.#blocks.push(chunk)
      this.#capacity += chunk.buffer.byteLength
      return
    }
    if (this.#open !== undefined && this.#used + chunk.length > this.#open.length)
      this.#closeBlock()
    if (this.#open === undefined) {
      this.#open = new Uint8Array(blockBytes)
      this.#capacity += blockBytes
    }
    this.#open.set(chunk, this.#used)
    this.#used += chunk.length
  }

  /** Returns all bytes, and forgets them. */
  take(): Uint8Array {
    this.#closeBlock()
    const [first = new Uint8Array()] = this.#blocks
    const all = this.#blocks.length <= 1 ? first : Buffer.concat(this.#blocks, this.#size)
    this.clear()
    return all
  }

  /** Forgets all bytes. */
  clear(): void {
    this.#blocks = []
    this.#open = undefined
    this.#used = 0
    this.#size = 0
    this.#capacity = 0
  }

  #closeBlock(): void {
    if (this.#open !== undefined) this.#blocks.push(this.#open.subarray(0, this.#used))
    this.#open = undefined
    this.#used = 0
  }
}

const blockBytes = 16 * 1024
const minLarge = blockBytes / 2
