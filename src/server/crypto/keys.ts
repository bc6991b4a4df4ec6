/** Bytes that nobody else shares the memory of. */
export type Bytes = Uint8Array<ArrayBuffer>

const SHORTEST = 32

/**
 * The secrets of a ring of keys, copied, so that the caller may clear or reuse his arrays; a random one
 * where none are given. Throws a TypeError for an empty ring and for a key of less than 32 bytes.
 */
export function secretsOf(keys?: readonly Uint8Array[]): readonly [Bytes, ...Bytes[]] {
  if (keys === undefined) return [crypto.getRandomValues(new Uint8Array(SHORTEST))]
  const [first, ...others] = keys.map(key => {
    if (key.length < SHORTEST) {
      throw new TypeError(`a key must have ${SHORTEST} bytes or more, not ${key.length}`)
    }
    return new Uint8Array(key)
  })
  if (first === undefined) throw new TypeError('a ring of keys needs at least one')
  return [first, ...others]
}

/** Compares in a time that depends on the length of `a` alone, not on where they differ. */
export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (const [i, byte] of a.entries()) difference |= byte ^ (b[i] ?? 0)
  return difference === 0
}
