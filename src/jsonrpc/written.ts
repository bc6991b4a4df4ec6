import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './letters.ts'
import type { Id, RpcResult } from './message.ts'
import type { Repeats } from './repeats.ts'

/**
 * A value as the text that it came as: JSON that has been checked from its first to its last letter, and
 * holds no line feed. It is written as it is, by the writer of messages and by `JSON.stringify` alike.
 */
export class Written {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** What a member of a result may be: one that is read at once, or one that may be left as its text. */
export type Keep = 'scalar' | 'object' | 'array'

/** The only members of results that are left unread, by their names. */
export type Kept = ReadonlyMap<string, Keep>

type Members = Readonly<Record<string, unknown>>

/**
 * A result of which some members have not been read: for whoever only passes them on, which takes half
 * the time then. Whoever asks for `result` gets all of it as `JSON.parse` would have given it.
 */
export class WrittenResult implements RpcResult {
  readonly type = 'result'
  readonly id: Id
  /** The result, where what was not read is a `Written`. */
  readonly written: Members

  constructor(id: Id, written: Members) {
    this.id = id
    this.written = written
  }

  get result(): Members {
    const read: Record<string, unknown> = {}
    for (const key in this.written) {
      const value = this.written[key]
      read[key] = value instanceof Written ? value.toJSON() : value
    }
    return read
  }
}

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
  for (let from = at + 1; ; ) {
    const keyEnd = text.indexOf('"', from + 1)
    if (text.charCodeAt(from) !== QUOTE || text.charCodeAt(keyEnd + 1) !== COLON) return undefined
    const key = text.slice(from + 1, keyEnd)
    const keep = kept.get(key)
    if (keep === undefined || members[key] !== undefined) return undefined
    const valueAt = keyEnd + 2
    const valueEnd = endOfMember(text, valueAt, keep)
    if (valueEnd < 0 || valueEnd > stop) return undefined
    const value = text.slice(valueAt, valueEnd)
    members[key] = keep === 'scalar' ? scalarOf(value) : new Written(value)
    if (valueEnd === stop) break
    if (text.charCodeAt(valueEnd) !== COMMA) return undefined
    from = valueEnd + 1
  }
  if (tail >= 0) members._meta = repeats?.value
  return members
}

/** A result says most of its scalars in the same few words. */
function scalarOf(text: string): unknown {
  if (text === '"complete"') return 'complete'
  if (text === 'false') return false
  return text === 'true' ? true : JSON.parse(text)
}

function endOfMember(text: string, at: number, keep: Keep): number {
  const first = text.charCodeAt(at)
  if (keep === 'array') return first === OPEN_ARRAY ? endOfArray(text, at) : -1
  if (keep === 'object') return first === OPEN_OBJECT ? endOfObject(text, at) : -1
  return first === OPEN_OBJECT || first === OPEN_ARRAY ? -1 : endOfValue(text, at)
}

// Each of these gives the position behind what begins at `at`, or -1 where that is no JSON.

function endOfValue(text: string, at: number): number {
  switch (text.charCodeAt(at)) {
    case OPEN_OBJECT:
      return endOfObject(text, at)
    case OPEN_ARRAY:
      return endOfArray(text, at)
    case QUOTE:
      return endOfString(text, at)
    default:
      scalar.lastIndex = at
      return scalar.test(text) ? scalar.lastIndex : -1
  }
}

const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

function endOfArray(text: string, from: number): number {
  let at = skipSpaces(text, from + 1)
  if (text.charCodeAt(at) === CLOSE_ARRAY) return at + 1
  for (;;) {
    at = endOfValue(text, at)
    if (at < 0) return -1
    at = skipSpaces(text, at)
    const c = text.charCodeAt(at)
    if (c === CLOSE_ARRAY) return at + 1
    if (c !== COMMA) return -1
    at = skipSpaces(text, at + 1)
  }
}

function endOfObject(text: string, from: number): number {
  let at = skipSpaces(text, from + 1)
  if (text.charCodeAt(at) === CLOSE_OBJECT) return at + 1
  for (;;) {
    if (text.charCodeAt(at) !== QUOTE) return -1
    at = endOfString(text, at)
    if (at < 0) return -1
    at = skipSpaces(text, at)
    if (text.charCodeAt(at) !== COLON) return -1
    at = endOfValue(text, skipSpaces(text, at + 1))
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
    case 34: // "
    case 47: // /
    case 92: // \\
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
