import { keysOfEnvironment } from './key-text.ts'

/** Bytes in an ArrayBuffer of their own, as WebCrypto takes them. */
export type Bytes = Uint8Array<ArrayBuffer>

/** A key of WebCrypto. */
export type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const MIN_BYTES = 32

/**
 * Copies the given keys, so that the caller may clear or reuse its arrays; by default those of the
 * environment variable `TRUNKLINE_KEYS`. Returns one random key where there are none. Throws a TypeError for an empty list and for a key of less than 32 bytes.
 */
export function copyKeys(
  keys: readonly Uint8Array[] | undefined = keysOfEnvironment(),
): readonly [Bytes, ...Bytes[]] {
  if (keys === undefined) return [crypto.getRandomValues(new Uint8Array(MIN_BYTES))]
  const [first, ...others] = keys.map(key => {
    if (key.length < MIN_BYTES) {
      throw new TypeError(`a key must have at least ${MIN_BYTES} bytes (got ${key.length})`)
    }
    return new Uint8Array(key)
  })
  if (first === undefined) throw new TypeError('the list of keys must not be empty')
  return [first, ...others]
}

/** Keys that are replaced from time to time. */
export interface KeyRing {
  /** The keys at present: the first one seals, all of them open. A change is a new array. */
  readonly keys: readonly Uint8Array[]
}

/** Keys for good, or a ring of keys that change. */
export type SealingKeys = readonly Uint8Array[] | KeyRing

/**
 * Returns a function that derives something of the keys, again only after they have changed. Throws a TypeError as
 * `copyKeys` does.
 */
export function derivedFromKeys<Derived>(
  keys: SealingKeys | undefined,
  derive: (secrets: readonly [Bytes, ...Bytes[]]) => Promise<Derived>,
): () => Promise<Derived> {
  const ring = isRing(keys) ? keys : { keys }
  let from = ring.keys
  let secrets = copyKeys(from)
  let derived: Promise<Derived> | undefined
  return () => {
    if (ring.keys !== from) {
      from = ring.keys
      secrets = copyKeys(from)
      derived = undefined
    }
    derived ??= derive(secrets)
    return derived
  }
}

function isRing(keys: SealingKeys | undefined): keys is KeyRing {
  return keys !== undefined && 'keys' in keys && Array.isArray(keys.keys)
}

/** Imports a secret as the base of keys that HKDF derives. */
export function importSecret(secret: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits', 'deriveKey'])
}

/** The parameters of HKDF for one purpose: each purpose has a key of its own from the same secret. */
export function derivation(purpose: string) {
  return {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(0),
    info: new TextEncoder().encode(purpose),
  }
}

/** Derives the key of a secret for one purpose. */
export async function deriveKey(
  secret: Bytes,
  purpose: string,
  algorithm: Parameters<typeof crypto.subtle.deriveKey>[2],
  usages: Parameters<typeof crypto.subtle.deriveKey>[4],
): Promise<CryptoKey> {
  const base = await importSecret(secret)
  return crypto.subtle.deriveKey(derivation(purpose), base, algorithm, false, usages)
}

/** Compares bytes in a time that depends on the length of `a` alone, not on where they differ. */
export function constantTimeEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (const [i, byte] of a.entries()) difference |= byte ^ (b[i] ?? 0)
  return difference === 0
}
