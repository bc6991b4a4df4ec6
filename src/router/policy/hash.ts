/** Hashes the first of two texts for `hashShare`. Compute it once where many second texts follow. */
export function hashSeed(text: string): number {
  return fnv1a(text, 0x811c9dc5, fnvPrime)
}

/**
 * Returns a number from 0 (inclusive) to 1 (exclusive) that depends on both texts only, the same in every
 * process: similar texts give unrelated numbers. Not for secrets.
 */
export function hashShare(seed: number, other: string): number {
  const high = mix(fnv1a(other, seed, fnvPrime))
  // With another factor, so that texts that collide above do not collide here.
  const low = mix(fnv1a(other, seed, 0x9e3779b1))
  // A number holds 53 bits: 32 of one and 21 of the other.
  return (high * 0x200000 + (low >>> 11)) / 0x20000000000000
}

/** Hashes a text to ten digits and lowercase letters, the same in every process. Not for secrets. */
export function shortHash(text: string): string {
  const length = 10
  const number = Math.floor(hashShare(hashSeed(''), text) * 36 ** length)
  return number.toString(36).padStart(length, '0')
}

const fnvPrime = 0x01000193

/** FNV-1a over the bytes of the UTF-16 code units, with a given seed and factor. */
function fnv1a(text: string, seed: number, factor: number): number {
  let hash = seed
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    hash = Math.imul(hash ^ (unit & 0xff), factor)
    hash = Math.imul(hash ^ (unit >>> 8), factor)
  }
  return hash >>> 0
}

// The high bits of FNV-1a hardly depend on the last characters; this spreads them over all.
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
