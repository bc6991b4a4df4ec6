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
import { knownText } from './detach.ts'
import { type Keep, type Kept, type KeptMember, type Members, Written } from './raw-json.ts'
import type { Repeats } from './repeated-meta.ts'

/**
 * The object at `[at, end)` with the members that `kept` names, the large ones as their text. Undefined
 * for whatever has other members, or one twice, or is spelt with more than single spaces, or is no JSON:
 * all of that is for the parser. How deep and how large it is must have been looked at before.
 */
export function readWritten(
  text: string,
  at: number,
  end: number,
  kept: Kept,
  repeats: Repeats | undefined,
): Members | undefined {
  if (text.charCodeAt(at) !== OPEN_OBJECT || text.charCodeAt(end - 1) !== CLOSE_OBJECT) {
    return undefined
  }
  const tail = repeats?.tailAt(text, at, end) ?? -1
  const stop = tail < 0 ? end - 1 : tail
  const members: Record<string, unknown> = {}
  let seen = 0
  for (let from = at + 1, place = 0; ; ) {
    place = placeOf(text, from, kept, place)
    const member = kept[place]
    if (member === undefined || (seen & (1 << place)) !== 0) return undefined
    seen |= 1 << place
    const { name, head, keep } = member
    const valueAt = from + head.length
    const valueEnd = endOfMember(text, valueAt, keep)
    if (valueEnd < 0 || valueEnd > stop) return undefined
    members[name] = memberOf(text.slice(valueAt, valueEnd), keep)
    if (valueEnd === stop) break
    if (text.charCodeAt(valueEnd) !== COMMA) return undefined
    from = valueEnd + 1
  }
  if (tail < 0) return members
  if (members._meta !== undefined) return undefined
  members._meta = repeats?.value
  return members
}

/** Which member begins here: nearly always one of those that follow the last in their usual order. */
function placeOf(text: string, at: number, kept: Kept, last: number): number {
  for (let place = last; place < kept.length; place++) {
    // The check: place is below length.
    if (text.startsWith((kept[place] as KeptMember).head, at)) return place
  }
  return kept.findIndex(({ head }) => text.startsWith(head, at))
}

function memberOf(text: string, keep: Keep): unknown {
  if (keep === 'scalar') return scalarOf(text)
  return keep === 'read' ? JSON.parse(text) : new Written(text)
}

/** Most scalars are plain words. */
function scalarOf(text: string): unknown {
  if (text.charCodeAt(0) === QUOTE && !text.includes('\\')) return knownText(text.slice(1, -1))
  if (text === 'false') return false
  return text === 'true' ? true : JSON.parse(text)
}

function endOfMember(text: string, at: number, keep: Keep): number {
  const first = text.charCodeAt(at)
  if (keep === 'scalar') {
    return first === OPEN_OBJECT || first === OPEN_ARRAY ? -1 : endOfValue(text, at, 0)
  }
  if (first !== (keep === 'array' ? OPEN_ARRAY : OPEN_OBJECT)) return -1
  if (text.length > SHORT) return endOfValue(text, at, 0)
  usual.lastIndex = at
  return usual.test(text) ? usual.lastIndex : endOfValue(text, at, 0)
}

// What most members are: compact, without escapes, not deep. One native pass tells, in a tenth of the
// time that the functions below take; of a long text there would be much to remember on the way.
const SHORT = 4096
const STRING = /"[ !#-[\]-\uffff]*"/.source
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.source
const SCALAR = `(?:${STRING}|${NUMBER}|true|false|null)`
const usual = new RegExp(
  container(`(?:${SCALAR}|${container(`(?:${SCALAR}|${container(SCALAR)})`)})`),
  'y',
)

function container(value: string): string {
  const member = `${STRING}:${value}`
  return `(?:\\{(?:${member}(?:,${member})*)?\\}|\\[(?:${value}(?:,${value})*)?\\])`
}

// Each of these gives the position behind what begins at `at`, or -1 where that is no JSON. They call
// each other, and what may be nested as deep as somebody likes would use up the stack: from here on
// that is -1, too, and for the parser.
const DEEPEST = 256

function endOfValue(text: string, at: number, level: number): number {
  switch (text.charCodeAt(at)) {
    case OPEN_OBJECT:
      return level < DEEPEST ? endOfObject(text, at, level) : -1
    case OPEN_ARRAY:
      return level < DEEPEST ? endOfArray(text, at, level) : -1
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

// Of a long string the expression finds the end faster than the loop.
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

/** Not over other white space: a line feed would end the line that the text is written to. */
function skipSpaces(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) === 32) at++
  return at
}
