import { errors } from '../../mcp/errors/constructors.ts'
import { fromBase64Url, toBase64Url } from '../../util/crypto/base64url.ts'
import {
  type CryptoKey,
  constantTimeEqual,
  derivedFromKeys,
  deriveKey,
  type SealingKeys,
} from '../../util/crypto/keys.ts'
import { limits } from '../../util/limits/limits.ts'
import type { NamedParams } from '../request.ts'

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[]
  /** The cursor of the next page; undefined on the last page. */
  readonly nextCursor: string | undefined
}

/**
 * Returns the page of a list that the params ask for. Throws or rejects with `errors.invalidCursor` for
 * a cursor that this server did not make.
 *
 * A cursor holds the position of the last entry that was shown. `positions` are those of the entries,
 * in ascending order: where an entry keeps its position while others come and go, no entry is shown
 * twice or left out. Without `positions` an entry's position is its index.
 *
 * The page is a promise only where a cursor was given or a next page exists, because cursors are signed
 * asynchronously. Nearly every list fits on one page and is returned at once.
 */
export function pageOf<T>(
  all: readonly T[],
  list: string,
  params: NamedParams,
  cursors: Cursors,
  size: number,
  positions?: readonly number[],
): Page<T> | Promise<Page<T>> {
  const { cursor } = params
  if (cursor === undefined) return pageFrom(0, all, list, cursors, size, positions)
  if (typeof cursor !== 'string') throw errors.invalidCursor({ cursor: String(cursor) })
  return cursors.read(list, cursor).then(position => {
    if (position === undefined) throw errors.invalidCursor({ cursor })
    return pageFrom(indexAfter(position, positions), all, list, cursors, size, positions)
  })
}

function pageFrom<T>(
  start: number,
  all: readonly T[],
  list: string,
  cursors: Cursors,
  size: number,
  positions: readonly number[] | undefined,
): Page<T> | Promise<Page<T>> {
  if (start === 0 && all.length <= size) return { items: all, nextCursor: undefined }
  const end = start + size
  // Entries after the cursor may have been removed since: then the rest is the last page.
  const items = all.slice(start, end)
  if (end >= all.length) return { items, nextCursor: undefined }
  const next = cursors.make(list, positions?.[end - 1] ?? end - 1)
  return next.then(nextCursor => ({ items, nextCursor }))
}

/** The index of the first entry after a position. */
function indexAfter(position: number, positions: readonly number[] | undefined): number {
  if (positions === undefined) return position + 1
  let low = 0
  let high = positions.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((positions[middle] ?? 0) > position) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Makes and reads the cursors of lists.
 *
 * A cursor holds a position and a keyed hash (HMAC-SHA-256, truncated to 128 bits) of the position and
 * of its binding. The hash keeps clients from making cursors of their own and from using one elsewhere.
 * It hides nothing: anyone can read the position out of a cursor, and a cursor stays valid as long as
 * its key and its binding do. State that must be secret or must expire belongs into a sealed token.
 */
export interface Cursors {
  /**
   * Returns the text for a position. `binding` is what the position belongs to, such as the method, the
   * version of the list, a filter or the caller: `read` accepts the cursor only with the same binding.
   *
   * Rejects with a RangeError for a position that is not an integer ≥ 0.
   */
  make(binding: string | readonly string[], position: number): Promise<string>
  /** Returns the position in a cursor; undefined for every text that `make` did not return. */
  read(binding: string | readonly string[], text: string): Promise<number | undefined>
  /** Returns a cursor that holds a text of at most `listCursorLength` characters instead of a position. */
  sign(binding: string | readonly string[], text: string): Promise<string>
  /** Returns the text in a cursor; undefined for every cursor that `sign` did not return. */
  verify(binding: string | readonly string[], cursor: string): Promise<string | undefined>
}

/** The options of `createCursors`. */
export interface CursorOptions {
  /**
   * Secrets of at least 32 random bytes each, such as those of a sealer: the first one signs cursors,
   * all of them verify. Processes behind one address need the same keys. By default one random key.
   */
  readonly keys?: SealingKeys | undefined
}

/** Creates a maker of cursors. Throws a TypeError for keys that are too short or an empty list. */
export function createCursors(options: CursorOptions = {}): Cursors {
  const keys = derivedFromKeys(
    options.keys,
    (secrets): Promise<readonly CryptoKey[]> =>
      Promise.all(secrets.map(secret => deriveKey(secret, 'trunkline cursor key', hmac, ['sign']))),
  )
  const sign: Cursors['sign'] = async (binding, text) => {
    const [first] = await keys()
    // The check: there is at least one key.
    const hash = await hashOf(first as CryptoKey, binding, text)
    const bytes = encoder.encode(text)
    const cursor = new Uint8Array(HASH_BYTES + bytes.length)
    cursor.set(hash)
    cursor.set(bytes, HASH_BYTES)
    return toBase64Url(cursor)
  }
  const verify: Cursors['verify'] = async (binding, text) => {
    // The protocol allows an empty string as a cursor, but `sign` never returns one.
    if (typeof text !== 'string' || text.length > maxLength) return undefined
    const cursor = fromBase64Url(text)
    if (cursor === undefined || cursor.length <= HASH_BYTES) return undefined
    const held = decoder.decode(cursor.subarray(HASH_BYTES))
    const given = cursor.subarray(0, HASH_BYTES)
    const hashes = (await keys()).map(key => hashOf(key, binding, held))
    const isOurs = (await Promise.all(hashes)).some(hash => constantTimeEqual(hash, given))
    return isOurs ? held : undefined
  }
  return {
    sign,
    verify,
    make: async (binding, position) => {
      if (!Number.isSafeInteger(position) || position < 0) {
        throw new RangeError(`a position must be an integer ≥ 0 (got ${position})`)
      }
      return sign(binding, String(position))
    },
    read: async (binding, text) => {
      const held = await verify(binding, text)
      return held === undefined ? undefined : positionOf(held)
    },
  }
}

const hmac = { name: 'HMAC', hash: 'SHA-256', length: 256 }

const HASH_BYTES = 16
/** Base64url has four characters for three bytes, and a character of the text at most four bytes. */
const maxLength = Math.ceil(((limits.listCursorLength.default * 4 + HASH_BYTES) * 4) / 3)

const encoder = new TextEncoder()
const decoder = new TextDecoder()

async function hashOf(
  key: CryptoKey,
  binding: string | readonly string[],
  text: string,
): Promise<Uint8Array> {
  // JSON keeps the parts from running into each other.
  const signed = encoder.encode(JSON.stringify([binding, text]))
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, signed), 0, HASH_BYTES)
}

function positionOf(text: string): number | undefined {
  const position = Number(text)
  // Only the canonical spelling: "07" and "7.0" are the same number, and would be other cursors.
  return Number.isSafeInteger(position) && String(position) === text ? position : undefined
}
