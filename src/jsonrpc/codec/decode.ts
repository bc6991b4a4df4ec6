import type { Decoded, Entry, Malformed } from '../message.ts'
import { CLOSE_ARRAY, COMMA, OPEN_ARRAY, OPEN_OBJECT } from './char-codes.ts'
import { type DecodeOptions, type DecodeRules, decodeRules, rulesFor } from './decode-rules.ts'
import { readEnvelope, replyTarget } from './envelope.ts'
import { readFast, readFastElement } from './fast-path.ts'
import { invalidRequest, notJson, oversize } from './malformed.ts'
import type { MetaCache } from './meta-cache.ts'
import { EnvelopeMembers, NOT_JSON, scanEnvelope, skipSpace, skipValue, TOO_DEEP } from './scan.ts'

export type { DecodeOptions }

/**
 * Decodes a text, or its bytes in UTF-8, to a message, a batch, or a value that describes what is wrong
 * and the error to respond with. Never throws.
 */
export function decode(input: string | Uint8Array, options?: DecodeOptions): Decoded {
  return decodeBy(input, options === undefined ? defaults : decodeRules(options))
}

const defaults = decodeRules()

/**
 * Decodes like `decode`, with rules that were made before. `metaCache` is the cache of the connection,
 * if there is one.
 */
export function decodeBy(
  input: string | Uint8Array,
  rules: DecodeRules,
  metaCache?: MetaCache,
): Decoded {
  if (typeof input === 'string') {
    return isLarger(input, rules.maxBytes)
      ? oversize(rules.maxBytes, rules.tooLargeCode)
      : decodeText(input, rules, metaCache)
  }
  if (input.byteLength > rules.maxBytes) return oversize(rules.maxBytes, rules.tooLargeCode)
  const text = decodeUtf8(input)
  return text === undefined
    ? notJson('the bytes are not UTF-8', 'encoding')
    : decodeText(text, rules, metaCache)
}

/** Returns the value for a text that was rejected by its size before it was read. */
export function tooLarge(options?: DecodeOptions): Malformed {
  const { maxBytes, tooLargeCode } = decodeRules(options)
  return oversize(maxBytes, tooLargeCode)
}

// ignoreBOM keeps a byte order mark in the text, where it is rejected like any other stray character.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Whether the text takes more than `maxBytes` in UTF-8; counted only if the length does not decide it.
 */
function isLarger(text: string, maxBytes: number): boolean {
  const { length } = text
  if (length > maxBytes) return true
  if (length * 3 <= maxBytes) return false
  let bytes = length
  for (let at = 0; at < length; at++) {
    const c = text.charCodeAt(at)
    if (c < 0x80) continue
    // Each half of a surrogate pair counts two, which makes the four bytes of the pair.
    bytes += c < 0x800 || (c >= 0xd800 && c <= 0xdfff) ? 1 : 2
  }
  return bytes > maxBytes
}

// One instance for all messages: decoding is synchronous, and nothing of it outlives the call.
const members = new EnvelopeMembers()

function decodeText(text: string, general: DecodeRules, metaCache: MetaCache | undefined): Decoded {
  const rules = rulesFor(text.length, general)
  const message = readFast(text, rules, metaCache)
  if (message !== undefined) return message
  members.nodes = 0
  const from = skipSpace(text, 0)
  const first = text.charCodeAt(from)
  if (first === OPEN_ARRAY) return decodeBatch(text, from, rules)
  if (first !== OPEN_OBJECT) return decodeScalar(text)
  const end = scanEnvelope(text, from, members, 0, rules.maxDepth, rules.maxNodes)
  if (end < 0) {
    const malformed = unreadable(end, rules)
    return end === NOT_JSON ? malformed : { ...malformed, ...replyTarget(text, members, rules) }
  }
  if (end !== text.length && skipSpace(text, end) !== text.length) {
    return notJson(`unexpected text after the message at position ${end}`)
  }
  return readEnvelope(text, members, rules)
}

function decodeBatch(text: string, from: number, rules: DecodeRules): Decoded {
  const entries: Entry[] = []
  members.nodes = 1
  if (rules.maxDepth < 1) return unreadable(TOO_DEEP, rules)
  let at = skipSpace(text, from + 1)
  if (text.charCodeAt(at) === CLOSE_ARRAY) {
    return skipSpace(text, at + 1) === text.length
      ? invalidRequest('empty-batch', 'an empty batch')
      : notJson(`unexpected text after the batch at position ${at + 1}`)
  }
  for (;;) {
    if (entries.length >= rules.maxBatch) return batchTooLarge(rules)
    const entry = readElement(text, at, rules)
    if (typeof entry === 'number') return unreadable(entry, rules)
    // One element that is not JSON makes the whole text invalid JSON.
    if (entry.type === 'invalid' && entry.reason === 'json') return entry
    entries.push(entry)
    at = skipSpace(text, members.end)
    const c = text.charCodeAt(at)
    at = skipSpace(text, at + 1)
    if (c === CLOSE_ARRAY) break
    if (c !== COMMA) return notJson(`unexpected end of a batch element at position ${at}`)
  }
  return at === text.length
    ? { type: 'batch', entries }
    : notJson(`unexpected text after the batch at position ${at}`)
}

/**
 * Reads the element at `at` and sets `members.end`; returns the negative result of the scan if that
 * fails.
 */
function readElement(text: string, at: number, rules: DecodeRules): Entry | number {
  const nodes = members.nodes
  const message = readFastElement(text, at, members, rules)
  if (message !== undefined && members.nodes <= rules.maxNodes) return message
  members.nodes = nodes
  const isObject = text.charCodeAt(at) === OPEN_OBJECT
  const end = isObject
    ? scanEnvelope(text, at, members, 1, rules.maxDepth, rules.maxNodes)
    : skipValue(text, at, members, 1, rules.maxDepth, rules.maxNodes)
  if (end < 0) return end
  members.end = end
  return isObject ? readEnvelope(text, members, rules) : decodeScalar(text.slice(at, end))
}

function batchTooLarge(rules: DecodeRules): Malformed {
  const malformed = invalidRequest('batch-too-large', `more than ${rules.maxBatch} messages`)
  if (rules.batchTooLargeCode === malformed.error.code) return malformed
  const error = { code: rules.batchTooLargeCode, message: 'Batch request too large' }
  return { ...malformed, error }
}

/** Returns the value for a text that does not begin like an object: other JSON, or no JSON. */
function decodeScalar(text: string): Malformed {
  try {
    JSON.parse(text)
    return invalidRequest('not-object', 'JSON, but not an object')
  } catch (cause) {
    return notJson(cause instanceof Error ? cause.message : 'no JSON')
  }
}

function unreadable(why: number, rules: DecodeRules): Malformed {
  if (why === NOT_JSON) return notJson('no JSON')
  return why === TOO_DEEP
    ? invalidRequest('depth', `nested deeper than ${rules.maxDepth}`)
    : invalidRequest('nodes', `more than ${rules.maxNodes} keys and values`)
}
