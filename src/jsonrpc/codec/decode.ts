import type { Decoded, Entry, Malformed } from '../message.ts'
import { CLOSE_ARRAY, COMMA, OPEN_ARRAY, OPEN_OBJECT } from './char-codes.ts'
import { type DecodeOptions, type DecodeRules, decodeRules } from './decode-rules.ts'
import { addressee, readEnvelope } from './envelope.ts'
import { readUsual, readUsualElement } from './fast-path.ts'
import { invalidRequest, notJson, oversize } from './malformed.ts'
import type { Repeats } from './repeated-meta.ts'
import { Members, NOT_JSON, scanEnvelope, skipSpace, skipValue, TOO_DEEP } from './scan.ts'

export type { DecodeOptions }

/**
 * Reads a text, or its bytes in UTF-8: a message, a batch, or a value that tells what is wrong and
 * what to answer. Never throws, whatever comes in.
 */
export function decode(input: string | Uint8Array, options?: DecodeOptions): Decoded {
  return decodeBy(input, options === undefined ? defaults : decodeRules(options))
}

const defaults = decodeRules()

/**
 * `decode` under rules made before. `repeats` is what the connection it came by says in every message,
 * where there is one.
 */
export function decodeBy(
  input: string | Uint8Array,
  rules: DecodeRules,
  repeats?: Repeats,
): Decoded {
  if (typeof input === 'string') {
    return isLarger(input, rules.maxBytes)
      ? oversize(rules.maxBytes, rules.tooLargeCode)
      : decodeText(input, rules, repeats)
  }
  if (input.byteLength > rules.maxBytes) return oversize(rules.maxBytes, rules.tooLargeCode)
  const text = decodeUtf8(input)
  return text === undefined
    ? notJson('the bytes are no UTF-8', 'encoding')
    : decodeText(text, rules, repeats)
}

/** The value for a text that was refused by its size before it was read. */
export function tooLarge(options?: DecodeOptions): Malformed {
  const { maxBytes, tooLargeCode } = decodeRules(options)
  return oversize(maxBytes, tooLargeCode)
}

// ignoreBOM keeps a byte order mark in the text, where it is refused like any other stray character.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Whether the text takes more than `maxBytes` in UTF-8; counted only where the length leaves it open. */
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

// One set of places for all messages: reading is synchronous, and nothing of it outlives the call.
const members = new Members()

function decodeText(text: string, rules: DecodeRules, repeats: Repeats | undefined): Decoded {
  const usual = readUsual(text, rules, repeats)
  if (usual !== undefined) return usual
  members.nodes = 0
  const from = skipSpace(text, 0)
  const first = text.charCodeAt(from)
  if (first === OPEN_ARRAY) return decodeBatch(text, from, rules)
  if (first !== OPEN_OBJECT) return decodeScalar(text)
  const end = scanEnvelope(text, from, members, 0, rules.maxDepth, rules.maxNodes)
  if (end < 0) {
    const refusal = unreadable(end, rules)
    return end === NOT_JSON ? refusal : { ...refusal, ...addressee(text, members, rules) }
  }
  if (end !== text.length && skipSpace(text, end) !== text.length) {
    return notJson(`something follows the message at position ${end}`)
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
      ? invalidRequest('empty-batch', 'a batch of nothing')
      : notJson(`something follows the batch at position ${at + 1}`)
  }
  for (;;) {
    if (entries.length >= rules.maxBatch) return batchTooLarge(rules)
    const entry = readElement(text, at, rules)
    if (typeof entry === 'number') return unreadable(entry, rules)
    // Text that is no JSON anywhere makes the whole of it no JSON.
    if (entry.type === 'invalid' && entry.reason === 'json') return entry
    entries.push(entry)
    at = skipSpace(text, members.end)
    const c = text.charCodeAt(at)
    at = skipSpace(text, at + 1)
    if (c === CLOSE_ARRAY) break
    if (c !== COMMA) return notJson(`a batch is broken off at position ${at}`)
  }
  return at === text.length
    ? { type: 'batch', entries }
    : notJson(`something follows the batch at position ${at}`)
}

/** The element at `at`, whose end is then in `members.end`; or what the scan found instead. */
function readElement(text: string, at: number, rules: DecodeRules): Entry | number {
  const nodes = members.nodes
  const usual = readUsualElement(text, at, members, rules)
  if (usual !== undefined && members.nodes <= rules.maxNodes) return usual
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
  const refusal = invalidRequest('batch-too-large', `more than ${rules.maxBatch} messages`)
  if (rules.batchTooLargeCode === refusal.error.code) return refusal
  const error = { code: rules.batchTooLargeCode, message: 'Batch request too large' }
  return { ...refusal, error }
}

/** Text that does not begin like an object: JSON of another kind, or none at all. */
function decodeScalar(text: string): Malformed {
  try {
    JSON.parse(text)
    return invalidRequest('not-object', 'JSON, but no object')
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
