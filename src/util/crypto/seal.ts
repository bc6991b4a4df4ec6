import { limits } from '../limits/limits.ts'
import { fromBase64Url, toBase64Url } from './base64url.ts'
import { canonicalJson } from './canonical-json.ts'
import {
  type Bytes,
  type CryptoKey,
  constantTimeEqual,
  derivation,
  derivedFromKeys,
  deriveKey,
  importSecret,
  type SealingKeys,
} from './keys.ts'

/** The time of day: expiry must mean the same to every process that shares a key. */
export interface WallClock {
  /** Milliseconds since 1970. */
  now(): number
}

/** What a token is valid for. It opens only for an equal binding. */
export interface SealBinding {
  /** Keeps tokens of one use from being accepted for another. */
  readonly purpose: string
  /** The principal of the request; absent where callers are not authenticated. */
  readonly principal?: string
  readonly method: string
  /** The params of the request, without `_meta`, `inputResponses` and `requestState`: a retry changes them. */
  readonly params?: Readonly<Record<string, unknown>>
}

/**
 * The result of opening a token. `'malformed'`: not the text of a token. `'forged'`: changed, or sealed
 * with none of the keys. `'foreign'`: sealed for another binding. `'expired'`: its time is over.
 */
export type Opened =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: 'malformed' | 'forged' | 'foreign' | 'expired' }

/** Seals state that clients keep for the server: they can neither read nor change it. */
export interface Sealer {
  /**
   * Seals a JSON value into a text of base64url characters.
   *
   * Rejects with a TypeError for a value that JSON does not have, and with a RangeError for a `ttlMs` that
   * is not a positive number of milliseconds and for a value that is too large.
   */
  seal(value: unknown, binding: SealBinding, options: { readonly ttlMs: number }): Promise<string>
  /**
   * Opens a token. Never rejects.
   *
   * A token opens any number of times until it expires: callers that must not act twice have to
   * remember that they did.
   */
  open(token: string, binding: SealBinding): Promise<Opened>
}

/** The options of `createSealer`. */
export interface SealerOptions {
  /**
   * Secrets of at least 32 random bytes each. The first one seals, all of them open: to change keys, put
   * a new one in front and remove the old one when its last tokens have expired. Processes behind one
   * address need the same keys. By default one random key of this process.
   *
   * Change a key before it has sealed 2^32 tokens: nonces are random, and NIST SP 800-38D stops there.
   */
  readonly keys?: SealingKeys | undefined
  readonly clock?: WallClock
  /** The maximum length of a token in characters; longer ones are neither made nor opened. */
  readonly maxLength?: number
}

/** Creates a sealer. Throws a TypeError for keys that are too short or an empty list. */
export function createSealer(options: SealerOptions = {}): Sealer {
  const { clock = Date, maxLength = limits.sealedLength.default } = options
  const ring = derivedFromKeys(options.keys, importRing)
  return {
    seal: async (value, binding, { ttlMs }) => {
      if (!(ttlMs > 0 && ttlMs < Number.POSITIVE_INFINITY)) {
        throw new RangeError(`ttlMs must be a positive number of milliseconds (got ${ttlMs})`)
      }
      const content = contentOf(value, await digestOf(binding), clock.now() + ttlMs)
      if (tokenLength(content.length) > maxLength) {
        throw new RangeError(
          `sealing ${content.length} bytes gives more than ${maxLength} characters`,
        )
      }
      return toBase64Url(await encrypt((await ring()).first, content))
    },
    open: async (token, binding) => {
      if (typeof token !== 'string' || token.length > maxLength) return refused('malformed')
      const bytes = fromBase64Url(token)
      if (bytes === undefined || bytes.length < MIN_BYTES || bytes[0] !== VERSION) {
        return refused('malformed')
      }
      // Both before any decision, so that the time reveals nothing about the reason.
      const digest = await digestOf(binding).catch(() => new Uint8Array(DIGEST))
      const content = await decrypt(await ring(), bytes)
      if (content === undefined) return refused('forged')
      if (!constantTimeEqual(content.subarray(EXPIRY, EXPIRY + DIGEST), digest))
        return refused('foreign')
      if (!(clock.now() < expiryOf(content))) return refused('expired')
      return { ok: true, value: JSON.parse(decoder.decode(content.subarray(EXPIRY + DIGEST))) }
    },
  }
}

// A token: version, key id, nonce, then the AES-256-GCM ciphertext of expiry, digest of the binding and
// JSON text, with its tag. Version and key id are authenticated too.
const VERSION = 1
const KEY_ID = 8
const HEAD = 1 + KEY_ID
const NONCE = 12
const TAG = 16
const EXPIRY = 8
const DIGEST = 32
const MIN_BYTES = HEAD + NONCE + EXPIRY + DIGEST + 1 + TAG

const encoder = new TextEncoder()
const decoder = new TextDecoder()

interface Key {
  readonly id: Bytes
  readonly key: CryptoKey
}

interface Ring {
  /** Seals, and is used for an unknown key id, so that the lookup takes no less time. */
  readonly first: Key
  readonly all: readonly Key[]
}

async function importRing([first, ...others]: readonly [Bytes, ...Bytes[]]): Promise<Ring> {
  const key = await importKey(first)
  return { first: key, all: [key, ...(await Promise.all(others.map(importKey)))] }
}

/** The key and its id are both derived from the secret, so the secret may serve other purposes too. */
async function importKey(secret: Bytes): Promise<Key> {
  const base = await importSecret(secret)
  const id = await crypto.subtle.deriveBits(derivation('trunkline seal key id'), base, KEY_ID * 8)
  const algorithm = { name: 'AES-GCM', length: 256 }
  const key = await deriveKey(secret, 'trunkline seal key', algorithm, ['encrypt', 'decrypt'])
  return { id: new Uint8Array(id), key }
}

async function digestOf({ purpose, principal, method, params = {} }: SealBinding): Promise<Bytes> {
  const { _meta, inputResponses, requestState, ...lasting } = params
  const text = canonicalJson([purpose, principal ?? null, method, lasting])
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))
}

function contentOf(value: unknown, digest: Bytes, expiry: number): Bytes {
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) throw new TypeError(`sealing a ${typeof value}: not JSON`)
  const json = encoder.encode(text)
  const content = new Uint8Array(EXPIRY + DIGEST + json.length)
  new DataView(content.buffer).setFloat64(0, expiry)
  content.set(digest, EXPIRY)
  content.set(json, EXPIRY + DIGEST)
  return content
}

function expiryOf(content: Bytes): number {
  return new DataView(content.buffer, content.byteOffset).getFloat64(0)
}

function tokenLength(contentLength: number): number {
  return Math.ceil(((HEAD + NONCE + contentLength + TAG) * 4) / 3)
}

async function encrypt({ id, key }: Key, content: Bytes): Promise<Bytes> {
  const head = new Uint8Array(HEAD)
  head[0] = VERSION
  head.set(id, 1)
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE))
  const options = { name: 'AES-GCM', iv: nonce, additionalData: head }
  const box = new Uint8Array(await crypto.subtle.encrypt(options, key, content))
  const token = new Uint8Array(HEAD + NONCE + box.length)
  token.set(head)
  token.set(nonce, HEAD)
  token.set(box, HEAD + NONCE)
  return token
}

/** Decrypts a token; returns undefined if none of the keys sealed exactly these bytes. */
async function decrypt(ring: Ring, token: Bytes): Promise<Bytes | undefined> {
  const head = token.subarray(0, HEAD)
  const id = head.subarray(1)
  const { key } = ring.all.find(candidate => constantTimeEqual(candidate.id, id)) ?? ring.first
  const iv = token.subarray(HEAD, HEAD + NONCE)
  const options = { name: 'AES-GCM', iv, additionalData: head }
  try {
    const content = await crypto.subtle.decrypt(options, key, token.subarray(HEAD + NONCE))
    return new Uint8Array(content)
  } catch {
    return undefined
  }
}

function refused(why: 'malformed' | 'forged' | 'foreign' | 'expired'): Opened {
  return { ok: false, why }
}
