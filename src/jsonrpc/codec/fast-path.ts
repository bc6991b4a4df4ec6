import type { Id, Message, Params } from '../message.ts'
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './char-codes.ts'
import type { DecodeRules } from './decode-rules.ts'
import { detached, interned } from './detach.ts'
import { readError } from './envelope.ts'
import type { MetaCache } from './meta-cache.ts'
import { RawRequest, RawResult, type RawShape } from './raw-json.ts'
import { readRawMembers } from './raw-json-reader.ts'
import { type EnvelopeMembers, skipValue } from './scan.ts'
import { structureFits } from './structure-limits.ts'

/**
 * Decodes messages in the common spelling: compact, with the envelope first
 * (`{"jsonrpc":"2.0","id":1,"method":"m","params":…}`) or last
 * (`{"method":"m","params":…,"jsonrpc":"2.0","id":1}`), ids and names without escapes.
 *
 * A regular expression checks the whole envelope in one native pass; only the value in it is parsed.
 * That value lies between fixed pieces, so if it is one JSON value, the text has no other reading and
 * no duplicate member. Any other text gives undefined, and the scanner decodes it with the same result,
 * only slower.
 */
export function readFast(
  text: string,
  rules: DecodeRules,
  metaCache: MetaCache | undefined,
): Message | undefined {
  // Limits that the envelope alone can exceed are left to the scanner.
  if (rules.maxNodes < CALL_NODES || rules.maxDepth < 2) return undefined
  front.lastIndex = 0
  if (front.test(text))
    return readEnvelopeFirst(text, 0, front.lastIndex, undefined, rules, metaCache)
  const c = text.charCodeAt(2)
  return c === LETTER_M || c === LETTER_R || c === LETTER_E
    ? readEnvelopeLast(text, rules, metaCache)
    : undefined
}

/**
 * Decodes the element of a batch that begins at `from`; sets `found.end` to its end and adds its nodes
 * to `found.nodes`. Returns undefined for an element in an uncommon spelling.
 */
export function readFastElement(
  text: string,
  from: number,
  found: EnvelopeMembers,
  rules: DecodeRules,
): Message | undefined {
  front.lastIndex = from
  return front.test(text)
    ? readEnvelopeFirst(text, from, front.lastIndex, found, rules, undefined)
    : undefined
}

// Fifteen digits are always exact as a number. Strings are printable ASCII without escapes.
const ID = /(?:0|[1-9]\d{0,14}|"[ !#-[\]-~]*")/.source
const NAME = /"[ !#-[\]-~]+"/.source
const VERSION = /"jsonrpc":"2\.0"/.source

const CALL = `"method":${NAME}(?:,"params":|\\})`
const front = new RegExp(`\\{${VERSION},(?:"id":${ID},(?:${CALL}|"result":|"error":)|${CALL})`, 'y')
const behind = new RegExp(`,${VERSION}(?:,"id":${ID})?\\}$`, 'y')
const behindHead = new RegExp(`\\{(?:"method":${NAME}(?:,"params":)?|"result":|"error":)`, 'y')

const LETTER_M = 109
const LETTER_R = 114
const LETTER_T = 116
const LETTER_E = 101

const AFTER_VERSION = '{"jsonrpc":"2.0",'.length
const ID_KEY = '"id":'.length
const METHOD_KEY = '"method":"'.length

/**
 * `headEnd` is the position after `"params":`, `"result":` or `"error":`, or after the whole message.
 * Without `found` the message is the whole text.
 */
function readEnvelopeFirst(
  text: string,
  from: number,
  headEnd: number,
  found: EnvelopeMembers | undefined,
  rules: DecodeRules,
  metaCache: MetaCache | undefined,
): Message | undefined {
  let at = from + AFTER_VERSION
  let id: Id | undefined
  if (text.charCodeAt(at + 1) !== LETTER_M) {
    const idAt = at + ID_KEY
    const idEnd = idEndAt(text, idAt)
    id = idAtRange(text, idAt, idEnd, rules)
    if (id === undefined) return undefined
    at = idEnd + 1
  }
  const isReply = text.charCodeAt(at + 1) !== LETTER_M
  const isBare = text.charCodeAt(headEnd - 1) === CLOSE_OBJECT
  const end = isBare ? headEnd : valueEnd(text, headEnd, found, rules) + 1
  if (end <= 0) return undefined
  const nodes = isReply ? REPLY_NODES : CALL_NODES
  if (found === undefined) {
    if (end !== text.length) return undefined
    if (!isBare && !structureFits(text, headEnd, end - 1, nodes, rules)) return undefined
  } else {
    found.end = end
    found.nodes += nodes
  }
  // Elements of a batch are always parsed completely.
  if (isReply) {
    const shape = found === undefined ? rules.rawResults : undefined
    // The check: the head of a reply has an id.
    return readReply(text, headEnd, end - 1, id as Id, shape, metaCache)
  }
  const methodEnd = isBare ? headEnd - 2 : headEnd - '","params":'.length
  const method = nameAt(text, at + METHOD_KEY, methodEnd, rules)
  if (method === undefined) return undefined
  if (isBare) return call(id, method, undefined)
  const shape = found === undefined ? rules.rawCalls?.get(method) : undefined
  return readCall(text, headEnd, end - 1, id, method, shape, metaCache)
}

/** Returns the end of the value at `at`, where the closing brace of the message is, or -1. */
function valueEnd(
  text: string,
  at: number,
  found: EnvelopeMembers | undefined,
  rules: DecodeRules,
): number {
  if (found === undefined) {
    return text.charCodeAt(text.length - 1) === CLOSE_OBJECT ? text.length - 1 : -1
  }
  const end =
    text.charCodeAt(at) === OPEN_OBJECT && text.charCodeAt(at + 1) === CLOSE_OBJECT
      ? at + 2
      : skipValue(text, at, found, 2, rules.maxDepth, rules.maxNodes)
  return end > 0 && text.charCodeAt(end) === CLOSE_OBJECT ? end : -1
}

function readEnvelopeLast(
  text: string,
  rules: DecodeRules,
  metaCache: MetaCache | undefined,
): Message | undefined {
  const tailAt = text.lastIndexOf(',"jsonrpc":')
  if (tailAt < 0) return undefined
  behind.lastIndex = tailAt
  behindHead.lastIndex = 0
  if (!behind.test(text) || !behindHead.test(text)) return undefined
  const headEnd = behindHead.lastIndex
  let id: Id | undefined
  const afterVersion = tailAt + AFTER_VERSION - 1
  if (text.charCodeAt(afterVersion) === COMMA) {
    id = idAtRange(text, afterVersion + 1 + ID_KEY, text.length - 1, rules)
    if (id === undefined) return undefined
  }
  if (text.charCodeAt(2) !== LETTER_M) {
    if (id === undefined || !structureFits(text, headEnd, tailAt, REPLY_NODES, rules)) {
      return undefined
    }
    return readReply(text, headEnd, tailAt, id, rules.rawResults, metaCache)
  }
  const isBare = text.charCodeAt(headEnd - 1) !== COLON
  const methodEnd = isBare ? headEnd - 1 : headEnd - '","params":'.length
  const method = nameAt(text, 1 + METHOD_KEY, methodEnd, rules)
  if (method === undefined) return undefined
  if (isBare) return headEnd === tailAt ? call(id, method, undefined) : undefined
  if (!structureFits(text, headEnd, tailAt, CALL_NODES, rules)) return undefined
  return readCall(text, headEnd, tailAt, id, method, rules.rawCalls?.get(method), metaCache)
}

function call(id: Id | undefined, method: string, params: Params | undefined): Message {
  return id === undefined
    ? { type: 'notification', method, params }
    : { type: 'request', id, method, params }
}

/**
 * Reads the reply whose value is at `[at, end)`. With `shape`, members of a result can stay raw JSON.
 */
function readReply(
  text: string,
  at: number,
  end: number,
  id: Id,
  shape: RawShape | undefined,
  metaCache: MetaCache | undefined,
): Message | undefined {
  if (shape !== undefined && isResult(text, at)) {
    const raw = readRawMembers(text, at, end, shape, metaCache)
    if (raw !== undefined) return new RawResult(id, raw)
  }
  try {
    const value = parse(text, at, end, shape, metaCache)
    if (isResult(text, at)) return { type: 'result', id, result: value }
    const error = readError(value)
    return typeof error === 'string' ? undefined : { type: 'error', id, error }
  } catch {
    return undefined
  }
}

/** Distinguishes `result` from `error` by the last letter before the quote and the colon: resulT, erroR. */
function isResult(text: string, at: number): boolean {
  return text.charCodeAt(at - 3) === LETTER_T
}

// The nodes of the envelope around a value: the object, and a key and a value for each member.
const REPLY_NODES = 7
const CALL_NODES = 9

/**
 * Reads the call whose params are at `[at, end)`. With `shape`, params of a request can stay raw JSON.
 */
function readCall(
  text: string,
  at: number,
  end: number,
  id: Id | undefined,
  method: string,
  shape: RawShape | undefined,
  metaCache: MetaCache | undefined,
): Message | undefined {
  const first = text.charCodeAt(at)
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return undefined
  if (end - at === 2) {
    const last = text.charCodeAt(at + 1)
    if (first === OPEN_OBJECT) return last === CLOSE_OBJECT ? call(id, method, {}) : undefined
    return last === CLOSE_ARRAY ? call(id, method, []) : undefined
  }
  if (shape !== undefined && id !== undefined) {
    const raw = readRawMembers(text, at, end, shape, metaCache)
    if (raw !== undefined) return new RawRequest(id, method, raw)
  }
  try {
    // The check: the text begins like an object or an array.
    return call(id, method, parse(text, at, end, shape, metaCache) as Params)
  } catch {
    return undefined
  }
}

function parse(
  text: string,
  at: number,
  end: number,
  shape: RawShape | undefined,
  metaCache: MetaCache | undefined,
): unknown {
  // With a shape, readRawMembers has consulted the cache already.
  return metaCache === undefined || shape !== undefined
    ? JSON.parse(text.slice(at, end))
    : metaCache.parse(text, at, end)
}

/** Returns the end of the id that begins at `at`, in a text that the expression has accepted. */
function idEndAt(text: string, at: number): number {
  if (text.charCodeAt(at) === QUOTE) return text.indexOf('"', at + 1) + 1
  let end = at + 1
  while (text.charCodeAt(end) !== COMMA) end++
  return end
}

function idAtRange(text: string, at: number, end: number, rules: DecodeRules): Id | undefined {
  if (text.charCodeAt(at) === QUOTE) {
    return end - at - 2 > rules.maxIdLength ? undefined : detached(text.slice(at + 1, end - 1))
  }
  if (end - at > rules.maxIdLength) return undefined
  let number = 0
  for (let i = at; i < end; i++) number = number * 10 + text.charCodeAt(i) - 48
  return number
}

function nameAt(text: string, at: number, end: number, rules: DecodeRules): string | undefined {
  return end - at > rules.maxMethodLength ? undefined : interned(text.slice(at, end))
}
