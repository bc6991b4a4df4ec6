/** Keeps the last `maxBytes` of an output of any length. */
export class OutputTail {
  readonly #maxBytes: number
  // A ring buffer, so that small chunks cost no more per byte than large ones.
  #ring = Buffer.alloc(0)
  #at = 0
  #isFull = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Adds a chunk. */
  push(chunk: Buffer): void {
    if (this.#ring.length === 0) this.#ring = Buffer.alloc(this.#maxBytes)
    const last = chunk.subarray(-this.#maxBytes)
    const copied = last.copy(this.#ring, this.#at)
    last.copy(this.#ring, 0, copied)
    const end = this.#at + last.length
    this.#isFull ||= end >= this.#maxBytes
    this.#at = end % this.#maxBytes
  }

  /** The kept bytes as text, from the first complete character on. */
  get text(): string {
    const newest = this.#ring.subarray(0, this.#at)
    if (!this.#isFull) return newest.toString()
    const all = Buffer.concat([this.#ring.subarray(this.#at), newest])
    let start = 0
    while (start < 3 && isContinuation(all[start])) start++
    return all.toString('utf8', start)
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
