import { limits } from '../util/limits/limits.ts'
import { formatValue } from '../util/options.ts'
import { BackplaneError } from './backplane-error.ts'
import type { LogEntry, LogPosition } from './log.ts'
import type { RecordOwner, RecordWrite } from './record-store.ts'
import type { BucketRequest } from './shared-rates.ts'

/** Throws if a text cannot be a key, a name in a set, a channel or the like. */
export function checkKey(key: string, what = 'key'): void {
  if (typeof key !== 'string' || key === '' || !key.isWellFormed() || key.includes('\0')) {
    throw new TypeError(
      `a ${what} must be a non-empty string without NUL or lone surrogates (got ${formatValue(key)})`,
    )
  }
  checkSize(key, limits.clusterKeyBytes.default, what)
}

/** Throws if a text cannot be stored or sent. */
export function checkSharedText(text: string, what = 'value'): void {
  if (typeof text !== 'string' || !text.isWellFormed()) {
    throw new TypeError(
      `a ${what} must be a string without lone surrogates (got ${formatValue(text)})`,
    )
  }
  checkSize(text, limits.clusterValueBytes.default, what)
}

/** Throws if a text cannot be the id of a node. */
export function checkNode(node: string): void {
  if (typeof node !== 'string' || !/^[\w.:-]{1,128}$/.test(node)) {
    throw new TypeError(
      `a node must be 1 to 128 letters, digits or "_.:-" (got ${formatValue(node)})`,
    )
  }
}

/** Throws if a text cannot be the name of a cluster, with which all keys of the cluster begin. */
export function checkCluster(cluster: string): void {
  if (!/^[\w.-]{1,64}$/.test(cluster)) {
    throw new TypeError(
      `option "cluster" must be 1 to 64 letters, digits or "_.-" (got ${formatValue(cluster)})`,
    )
  }
}

/** Throws if a number is not a duration of at least a millisecond. */
export function checkMs(ms: number, what: string): void {
  if (!Number.isSafeInteger(ms) || ms < 1) {
    throw new TypeError(
      `${what} must be a whole number of milliseconds ≥ 1 (got ${formatValue(ms)})`,
    )
  }
}

/** Throws if a number is not a whole number of at least `min`. */
export function checkCount(count: number, what: string, min = 0): void {
  if (!Number.isSafeInteger(count) || count < min) {
    throw new TypeError(`${what} must be a whole number ≥ ${min} (got ${formatValue(count)})`)
  }
}

/** Throws if a write has an unusable value or time to live. */
export function checkWrite({ value, ttlMs }: RecordWrite): void {
  checkSharedText(value)
  checkMs(ttlMs, 'ttlMs')
}

/** Throws if an owner has an unusable node or epoch. */
export function checkOwner({ node, epoch }: RecordOwner): void {
  checkNode(node)
  checkCount(epoch, 'epoch', 1)
}

/** Throws if entries are not in order, or cannot be stored. */
export function checkLogEntries(entries: readonly LogEntry[]): void {
  let last: LogPosition = { epoch: 0, n: 0 }
  for (const entry of entries) {
    checkCount(entry.epoch, 'epoch', 1)
    checkCount(entry.n, 'n', 1)
    if (!isAfter(entry, last)) {
      throw new TypeError(`entries must be in order: ${place(entry)} comes after ${place(last)}`)
    }
    last = entry
    for (const [name, value] of Object.entries(entry.fields)) {
      checkKey(name, 'field name')
      checkSharedText(value, 'field')
    }
  }
}

/** Throws if a request for tokens cannot be met by any bucket. */
export function checkBucket({ bucket, perSecond, burst, want, least }: BucketRequest): void {
  checkKey(bucket, 'bucket')
  if (!(perSecond > 0 && Number.isFinite(perSecond))) {
    throw new TypeError(`perSecond must be a number above 0 (got ${formatValue(perSecond)})`)
  }
  checkCount(burst, 'burst', 1)
  checkCount(want, 'want', 1)
  checkCount(least, 'least', 1)
  if (least > want || least > burst) {
    throw new TypeError(`least (${least}) must not exceed want (${want}) or burst (${burst})`)
  }
}

/** Returns whether a position comes after another. */
export function isAfter(position: LogPosition, other: LogPosition): boolean {
  return position.epoch === other.epoch ? position.n > other.n : position.epoch > other.epoch
}

function place({ epoch, n }: LogPosition): string {
  return `${epoch}-${n}`
}

function checkSize(text: string, maxBytes: number, what: string): void {
  // UTF-8 takes at most three bytes for each UTF-16 code unit.
  if (text.length * 3 <= maxBytes) return
  const bytes = text.length > maxBytes ? text.length : new TextEncoder().encode(text).length
  if (bytes <= maxBytes) return
  throw new BackplaneError(
    'too-large',
    `a ${what} of ${bytes} bytes is over the limit of ${maxBytes} bytes; nothing was sent`,
  )
}
