/**
 * A reproducible random number generator: the same seed gives the same numbers on every machine.
 *
 * The generator is mulberry32, whose quality is sufficient for test inputs.
 */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns an integer from 0 to `below`, excluded. */
  int(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }

  /** Returns true once in `times` calls, on average. */
  once(times: number): boolean {
    return this.int(times) === 0
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.int(choices.length)] ?? choices[0]
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.int(256))
  }

  /** Concatenates up to `most` of the pieces, and sometimes one of noise. */
  mix(pieces: readonly [string, ...string[]], most: number): Uint8Array {
    const chosen = Array.from({ length: this.int(most + 1) }, () =>
      this.once(12) ? this.bytes(this.int(8)) : Buffer.from(this.pick(pieces)),
    )
    return Buffer.concat(chosen)
  }

  /** Returns the bytes with a few of them changed, removed, duplicated or inserted. */
  mutate(bytes: Uint8Array): Uint8Array {
    let mutated = bytes
    for (let left = 1 + this.int(3); left > 0; left--) {
      const at = this.int(mutated.length + 1)
      const end = Math.min(mutated.length, at + this.int(4))
      const between = this.pick([
        new Uint8Array(0),
        this.bytes(1 + this.int(2)),
        mutated.subarray(at, end + this.int(8)),
        Buffer.from(this.pick(['"', '{', '}', '[', ']', ',', ':', '\\', '0', '-', 'e9', 'null'])),
      ])
      mutated = Buffer.concat([mutated.subarray(0, at), between, mutated.subarray(end)])
    }
    return mutated
  }

  /** Splits the bytes into chunks: single bytes, two halves, or random chunks, including empty ones. */
  cut(bytes: Uint8Array): Uint8Array[] {
    if (this.once(4)) return Array.from(bytes, byte => Uint8Array.of(byte))
    const pieces: Uint8Array[] = []
    let left = bytes
    const longest = 1 + this.int(bytes.length + 1)
    while (left.length > 0) {
      const length = this.int(longest + 1)
      pieces.push(left.subarray(0, length))
      left = left.subarray(length)
    }
    return pieces
  }
}
