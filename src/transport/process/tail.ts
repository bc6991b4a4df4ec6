/** Keeps the last bytes of an output that may be endless, in whatever pieces it comes. */
export class Tail {
  readonly #maxBytes: number
  // A ring: written round and round, so that pieces of one byte cost no more than large ones.
  #ring = Buffer.alloc(0)
  #at = 0
  #isFull = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  push(chunk: Buffer): void {
    if (this.#ring.length === 0) this.#ring = Buffer.alloc(this.#maxBytes)
    const last = chunk.subarray(-this.#maxBytes)
    const copied = last.copy(this.#ring, this.#at)
    last.copy(this.#ring, 0, copied)
    const end = this.#at + last.length
    this.#isFull ||= end >= this.#maxBytes
    this.#at = end % this.#maxBytes
  }

  /** The kept end as text, from the first whole character on. */
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
