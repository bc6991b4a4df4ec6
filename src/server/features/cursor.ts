import { fromBase64Url, toBase64Url } from '../crypto/base64url.ts'
import { isSame, secretsOf } from '../crypto/keys.ts'
import { sipHash } from '../crypto/siphash.ts'

/**
 * Makes and reads the cursors of lists, without waiting.
 *
 * A cursor holds a position and a keyed hash (SipHash-2-4, 128 bits) of the position and of what it
 * belongs to. That keeps clients from making cursors of their own and from using one elsewhere. It
 * hides nothing: anyone can read the position out of a cursor, and one stays good as long as its key
 * and its binding do. What must be secret or must expire belongs into a sealed token instead.
 */
export interface Cursors {
  /**
   * The text that stands for a position. `binding` is what the position belongs to, such as the method,
   * the version of the list, a filter, the caller: only with the same one it is read again.
   *
   * Throws a RangeError for a position that is no whole number from 0 on.
   */
  make(binding: string | readonly string[], position: number): string
  /** The position that a text stands for; undefined for every text that `make` did not give. */
  read(binding: string | readonly string[], text: string): number | undefined
}

/** What cursors may be made with. */
export interface CursorOptions {
  /**
   * Secrets of at least 32 random bytes each, such as those of a sealer: the first one makes cursors,
   * all of them read. Processes behind one address need the same ones. By default a random one.
   */
  readonly keys?: readonly Uint8Array[]
}

/** Makes what makes cursors. Throws a TypeError for keys that are too short or missing. */
export function createCursors(options: CursorOptions = {}): Cursors {
  const [first, ...others] = secretsOf(options.keys)
  const firstKey = derive(first)
  const keys = [firstKey, ...others.map(derive)]
  return {
    make: (binding, position) => {
      if (!Number.isSafeInteger(position) || position < 0) {
        throw new RangeError(`a position must be a whole number from 0 on, not ${position}`)
      }
      const text = encoder.encode(String(position))
      const cursor = new Uint8Array(HASH + text.length)
      cursor.set(hashOf(firstKey, binding, position))
      cursor.set(text, HASH)
      return toBase64Url(cursor)
    },
    read: (binding, text) => {
      // The empty string is a cursor to a client, but none that was ever given to it.
      if (typeof text !== 'string' || text.length > LONGEST) return undefined
      const cursor = fromBase64Url(text)
      const position = cursor === undefined ? undefined : positionOf(cursor)
      if (cursor === undefined || position === undefined) return undefined
      const hash = cursor.subarray(0, HASH)
      return keys.some(key => isSame(hashOf(key, binding, position), hash)) ? position : undefined
    },
  }
}

const HASH = 16
/** 16 bytes of hash and 16 digits are 43 characters. */
const LONGEST = 43

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A key of its own, so that a secret may serve other purposes as well. */
function derive(secret: Uint8Array): Uint8Array {
  const purpose = encoder.encode('trunkline cursor')
  const message = new Uint8Array(purpose.length + secret.length - 16)
  message.set(purpose)
  message.set(secret.subarray(16), purpose.length)
  return sipHash(secret.subarray(0, 16), message)
}

function hashOf(
  key: Uint8Array,
  binding: string | readonly string[],
  position: number,
): Uint8Array {
  // As JSON, so that the parts cannot run into each other.
  return sipHash(key, encoder.encode(JSON.stringify([binding, position])))
}

function positionOf(cursor: Uint8Array): number | undefined {
  const text = decoder.decode(cursor.subarray(HASH))
  const position = Number(text)
  // Only as it was written: "07" and "7.0" are the same number, and would be other cursors.
  return Number.isSafeInteger(position) && String(position) === text ? position : undefined
}
