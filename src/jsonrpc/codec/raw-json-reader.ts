import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './char-codes.ts'
import { interned } from './detach.ts'
import type { MetaCache } from './meta-cache.ts'
import {
  RawJson,
  type RawMember,
  type RawMemberKind,
  type RawObject,
  type RawShape,
} from './raw-json.ts'

/**
 * Reads the object at `[at, end)` with the members that `shape` names, the large ones as RawJson.
 * Returns undefined for an object with other or duplicate members, with white space other than spaces,
 * or for invalid JSON: all of that is left to the parser. The caller must have checked depth and number
 * of nodes.
 */
export function readRawMembers(
  text: string,
  at: number,
  end: number,
  shape: RawShape,
  metaCache: MetaCache | undefined,
): RawObject | undefined {
  if (text.charCodeAt(at) !== OPEN_OBJECT || text.charCodeAt(end - 1) !== CLOSE_OBJECT) {
    return undefined
  }
  const tail = metaCache?.tailAt(text, at, end) ?? -1
  const stop = tail < 0 ? end - 1 : tail
  const members: Record<string, unknown> = {}
  let seen = 0
  for (let from = at + 1, place = 0; ; ) {
    place = placeOf(text, from, shape, place)
    const member = shape[place]
    if (member === undefined || (seen & (1 << place)) !== 0) return undefined
    seen |= 1 << place
    const { name, head, kind } = member
    const valueAt = from + head.length
    const valueEnd = endOfMember(text, valueAt, kind)
    if (valueEnd < 0 || valueEnd > stop) return undefined
    members[name] = memberOf(text.slice(valueAt, valueEnd), kind)
    if (valueEnd === stop) break
    if (text.charCodeAt(valueEnd) !== COMMA) return undefined
    from = valueEnd + 1
  }
  if (tail < 0) return members
  if (members._meta !== undefined) return undefined
  members._meta = metaCache?.value
  return members
}

/**
 * Returns the index of the member that begins here: nearly always one that follows the last in the
 * usual order.
 */
function placeOf(text: string, at: number, shape: RawShape, last: number): number {
  for (let place = last; place < shape.length; place++) {
    // The check: place is less than length.
    if (text.startsWith((shape[place] as RawMember).head, at)) return place
  }
  return shape.findIndex(({ head }) => text.startsWith(head, at))
}

function memberOf(text: string, kind: RawMemberKind): unknown {
  if (kind === 'scalar') return scalarOf(text)
  return kind === 'parsed' ? JSON.parse(text) : new RawJson(text)
}

/** Most scalars are strings without escapes. */
function scalarOf(text: string): unknown {
  if (text.charCodeAt(0) === QUOTE && !text.includes('\\')) return interned(text.slice(1, -1))
  if (text === 'false') return false
  return text === 'true' ? true : JSON.parse(text)
}

function endOfMember(text: string, at: number, kind: RawMemberKind): number {
  const first = text.charCodeAt(at)
  if (kind === 'scalar') {
    return first === OPEN_OBJECT || first === OPEN_ARRAY ? -1 : endOfValue(text, at, 0)
  }
  if (first !== (kind === 'array' ? OPEN_ARRAY : OPEN_OBJECT)) return -1
  if (text.length > MAX_SIMPLE_LENGTH) return endOfValue(text, at, 0)
  simple.lastIndex = at
  return simple.test(text) ? simple.lastIndex : endOfValue(text, at, 0)
}

// Most members are compact, without escapes and not deep. One native pass checks that in a tenth of the
// time of the functions below. Long texts are excluded because the expression would need much memory to
// backtrack.
const MAX_SIMPLE_LENGTH = 4096
const STRING = /"[ !#-[\]-\uffff]*"/.source
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.source
const SCALAR = `(?:${STRING}|${NUMBER}|true|false|null)`
const simple = new RegExp(
  container(`(?:${SCALAR}|${container(`(?:${SCALAR}|${container(SCALAR)})`)})`),
  'y',
)

function container(value: string): string {
  const member = `${STRING}:${value}`
  return `(?:\\{(?:${member}(?:,${member})*)?\\}|\\[(?:${value}(?:,${value})*)?\\])`
}

// Each of these functions returns the position after the value that begins at `at`, or -1 if it is no
// JSON. They are recursive, so nesting is limited to protect the stack: deeper values give -1, too, and
// go to the parser.
const MAX_LEVEL = 256

function endOfValue(text: string, at: number, level: number): number {
  switch (text.charCodeAt(at)) {
    case OPEN_OBJECT:
      return level < MAX_LEVEL ? endOfObject(text, at, level) : -1
    case OPEN_ARRAY:
      return level < MAX_LEVEL ? endOfArray(text, at, level) : -1
    case QUOTE:
      return endOfString(text, at)
    default:
      scalar.lastIndex = at
      return scalar.test(text) ? scalar.lastIndex : -1
  }
}

const scalar = new RegExp(`true|false|null|${NUMBER}`, 'y')

function endOfArray(text: string, from: number, level: number): number {
  let at = skipSpaces(text, from + 1)
  if (text.charCodeAt(at) === CLOSE_ARRAY) return at + 1
  for (;;) {
    at = endOfValue(text, at, level + 1)
    if (at < 0) return -1
    at = skipSpaces(text, at)
    const c = text.charCodeAt(at)
    if (c === CLOSE_ARRAY) return at + 1
    if (c !== COMMA) return -1
    at = skipSpaces(text, at + 1)
  }
}

function endOfObject(text: string, from: number, level: number): number {
  let at = skipSpaces(text, from + 1)
  if (text.charCodeAt(at) === CLOSE_OBJECT) return at + 1
  for (;;) {
    if (text.charCodeAt(at) !== QUOTE) return -1
    at = endOfString(text, at)
    if (at < 0) return -1
    at = skipSpaces(text, at)
    if (text.charCodeAt(at) !== COLON) return -1
    at = endOfValue(text, skipSpaces(text, at + 1), level + 1)
    if (at < 0) return -1
    at = skipSpaces(text, at)
    const c = text.charCodeAt(at)
    if (c === CLOSE_OBJECT) return at + 1
    if (c !== COMMA) return -1
    at = skipSpaces(text, at + 1)
  }
}

// The expression finds the end of a long string faster than the loop.
const LONG = 48
const plain = /[ !#-[\]-\uffff]*/y
const hex = /[0-9a-fA-F]{4}/y

function endOfString(text: string, from: number): number {
  let at = from + 1
  let near = at + LONG
  for (;;) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) return at + 1
    if (c === BACKSLASH) {
      at = endOfEscape(text, at)
      if (at < 0) return -1
    } else if (c < 32 || Number.isNaN(c)) {
      return -1
    } else if (at < near) {
      at++
    } else {
      plain.lastIndex = at
      plain.test(text)
      at = plain.lastIndex
      near = at + LONG
    }
  }
}

function endOfEscape(text: string, at: number): number {
  switch (text.charCodeAt(at + 1)) {
    case QUOTE:
    case 47: // /
    case BACKSLASH:
    case 98: // b
    case 102: // f
    case 110: // n
    case 114: // r
    case 116: // t
      return at + 2
    case 117: // u
      hex.lastIndex = at + 2
      return hex.test(text) ? at + 6 : -1
    default:
      return -1
  }
}

/** Skips no other white space: a line feed would end the frame that the text is written to. */
function skipSpaces(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) === 32) at++
  return at
}
