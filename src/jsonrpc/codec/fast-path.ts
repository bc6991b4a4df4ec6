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
import { knownText, ownText } from './detach.ts'
import { readError } from './envelope.ts'
import { type Kept, WrittenRequest, WrittenResult } from './raw-json.ts'
import { readWritten } from './raw-json-reader.ts'
import type { Repeats } from './repeated-meta.ts'
import { type Members, skipValue } from './scan.ts'
import { structureFits } from './structure-limits.ts'

/**
 * The quick way for messages spelt as almost everybody spells them: compact, with the envelope in
 * front (`{"jsonrpc":"2.0","id":1,"method":"m","params":…}`) or behind (`{"method":"m","params":…,
 * "jsonrpc":"2.0","id":1}`), ids and names without escapes.
 *
 * A regular expression checks the whole envelope in one native pass; only the value in between is
 * parsed. That value stands between fixed pieces, so if it is one JSON value the text cannot be read
 * in any other way, and no member can stand twice. Whatever does not fit gives undefined, and the
 * scanner reads it with the same result, only slower.
 */
export function readUsual(
  text: string,
  rules: DecodeRules,
  repeats: Repeats | undefined,
): Message | undefined {
  // Limits that an envelope alone may break are the scanner's to count.
  if (rules.maxNodes < CALL_NODES || rules.maxDepth < 2) return undefined
  front.lastIndex = 0
  if (front.test(text)) return readFront(text, 0, front.lastIndex, undefined, rules, repeats)
  const c = text.charCodeAt(2)
  return c === LETTER_M || c === LETTER_R || c === LETTER_E
    ? readBehind(text, rules, repeats)
    : undefined
}

/**
 * The same for one element of a batch, which begins at `from` and whose end is yet to be found: it is
 * then in `found.end`, and its nodes are counted in `found.nodes`.
 */
export function readUsualElement(
  text: string,
  from: number,
  found: Members,
  rules: DecodeRules,
): Message | undefined {
  front.lastIndex = from
  return front.test(text)
    ? readFront(text, from, front.lastIndex, found, rules, undefined)
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
 * `headEnd` is where the head ends: behind `"params":`, `"result":`, or the whole message. Without
 * `found` the message is the whole text.
 */
function readFront(
  text: string,
  from: number,
  headEnd: number,
  found: Members | undefined,
  rules: DecodeRules,
  repeats: Repeats | undefined,
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
  // What comes in a batch is parsed as a whole.
  if (isReply) {
    const kept = found === undefined ? rules.written : undefined
    // The check: a head of a reply has an id.
    return readReply(text, headEnd, end - 1, id as Id, kept, repeats)
  }
  const methodEnd = isBare ? headEnd - 2 : headEnd - '","params":'.length
  const method = nameAt(text, at + METHOD_KEY, methodEnd, rules)
  if (method === undefined) return undefined
  if (isBare) return call(id, method, undefined)
  const kept = found === undefined ? rules.writtenCalls?.get(method) : undefined
  return readCall(text, headEnd, end - 1, id, method, kept, repeats)
}

/** Where the value at `at` ends and the brace of the message stands, or -1. */
function valueEnd(
  text: string,
  at: number,
  found: Members | undefined,
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

function readBehind(
  text: string,
  rules: DecodeRules,
  repeats: Repeats | undefined,
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
    return readReply(text, headEnd, tailAt, id, rules.written, repeats)
  }
  const isBare = text.charCodeAt(headEnd - 1) !== COLON
  const methodEnd = isBare ? headEnd - 1 : headEnd - '","params":'.length
  const method = nameAt(text, 1 + METHOD_KEY, methodEnd, rules)
  if (method === undefined) return undefined
  if (isBare) return headEnd === tailAt ? call(id, method, undefined) : undefined
  if (!structureFits(text, headEnd, tailAt, CALL_NODES, rules)) return undefined
  return readCall(text, headEnd, tailAt, id, method, rules.writtenCalls?.get(method), repeats)
}

function call(id: Id | undefined, method: string, params: Params | undefined): Message {
  return id === undefined
    ? { type: 'notification', method, params }
    : { type: 'request', id, method, params }
}

/** The reply whose value stands at `[at, end)`. With `kept`, parts of a result may stay as text. */
function readReply(
  text: string,
  at: number,
  end: number,
  id: Id,
  kept: Kept | undefined,
  repeats: Repeats | undefined,
): Message | undefined {
  if (kept !== undefined && isResult(text, at)) {
    const written = readWritten(text, at, end, kept, repeats)
    if (written !== undefined) return new WrittenResult(id, written)
  }
  try {
    const value = parse(text, at, end, kept, repeats)
    if (isResult(text, at)) return { type: 'result', id, result: value }
    const error = readError(value)
    return typeof error === 'string' ? undefined : { type: 'error', id, error }
  } catch {
    return undefined
  }
}

/** Which of the two a value at `at` is, by the letter before the quote and the colon: resulT, erroR. */
function isResult(text: string, at: number): boolean {
  return text.charCodeAt(at - 3) === LETTER_T
}

// The nodes of the envelope around a value: the object, and a key and a value for each member.
const REPLY_NODES = 7
const CALL_NODES = 9

/** The call whose params stand at `[at, end)`. With `kept`, parts of a request's may stay as text. */
function readCall(
  text: string,
  at: number,
  end: number,
  id: Id | undefined,
  method: string,
  kept: Kept | undefined,
  repeats: Repeats | undefined,
): Message | undefined {
  const first = text.charCodeAt(at)
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return undefined
  if (end - at === 2) {
    const last = text.charCodeAt(at + 1)
    if (first === OPEN_OBJECT) return last === CLOSE_OBJECT ? call(id, method, {}) : undefined
    return last === CLOSE_ARRAY ? call(id, method, []) : undefined
  }
  if (kept !== undefined && id !== undefined) {
    const written = readWritten(text, at, end, kept, repeats)
    if (written !== undefined) return new WrittenRequest(id, method, written)
  }
  try {
    // The check: the text begins like an object or an array.
    return call(id, method, parse(text, at, end, kept, repeats) as Params)
  } catch {
    return undefined
  }
}

function parse(
  text: string,
  at: number,
  end: number,
  kept: Kept | undefined,
  repeats: Repeats | undefined,
): unknown {
  // What repeats has been looked for already where parts may be left as text.
  return repeats === undefined || kept !== undefined
    ? JSON.parse(text.slice(at, end))
    : repeats.parse(text, at, end)
}

/** Where the id that begins at `at` ends, in a text that the expression has found good. */
function idEndAt(text: string, at: number): number {
  if (text.charCodeAt(at) === QUOTE) return text.indexOf('"', at + 1) + 1
  let end = at + 1
  while (text.charCodeAt(end) !== COMMA) end++
  return end
}

function idAtRange(text: string, at: number, end: number, rules: DecodeRules): Id | undefined {
  if (text.charCodeAt(at) === QUOTE) {
    return end - at - 2 > rules.maxIdLength ? undefined : ownText(text.slice(at + 1, end - 1))
  }
  if (end - at > rules.maxIdLength) return undefined
  let number = 0
  for (let i = at; i < end; i++) number = number * 10 + text.charCodeAt(i) - 48
  return number
}

function nameAt(text: string, at: number, end: number, rules: DecodeRules): string | undefined {
  return end - at > rules.maxMethodLength ? undefined : knownText(text.slice(at, end))
}
