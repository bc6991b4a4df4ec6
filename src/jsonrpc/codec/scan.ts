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

/**
 * Finds the members of an envelope in the text of a message without parsing the values.
 *
 * One pass over the characters finds everything that `JSON.parse` would lose or detect too late:
 * duplicate members, the spelling of ids, nesting and number of nodes before anything is built. Only
 * the structure is checked; parsing the slice of a value later shows whether it is JSON.
 */

/** Results of a scan that are not positions; all are negative. */
export const NOT_JSON = -1
export const TOO_DEEP = -2
const TOO_MANY_NODES = -3

/** Bits of `EnvelopeMembers.seen`. */
export const seen = { jsonrpc: 1, id: 2, method: 4, params: 8, result: 16, error: 32 } as const

/**
 * The positions of the members of an envelope in the text, as `[start, end)` of each value. A range is
 * valid only if its bit is set in `seen`. One instance is reused for every message.
 */
export class EnvelopeMembers {
  seen = 0
  /** Bits of duplicate members. */
  duplicates = 0
  /** The bit of the member in whose value the scan stopped, if it did. */
  stoppedIn = 0
  /** Keys and values since the beginning of the text, over all envelopes of a batch. */
  nodes = 0
  /** The end of the last element of a batch. */
  end = 0
  versionAt = 0
  versionEnd = 0
  idAt = 0
  idEnd = 0
  methodAt = 0
  methodEnd = 0
  paramsAt = 0
  paramsEnd = 0
  resultAt = 0
  resultEnd = 0
  errorAt = 0
  errorEnd = 0
  /** Ranges of values to be checked and ignored: those of unknown and of duplicate members. */
  others: number[] = []
}

/** Returns the position of the next character that is not JSON white space. */
export function skipSpace(text: string, from: number): number {
  let at = from
  for (;;) {
    const c = text.charCodeAt(at)
    if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return at
    at++
  }
}

/**
 * Scans the object that begins at `from` and fills `into`; returns the position after it. `depth` is
 * the nesting around it.
 */
export function scanEnvelope(
  text: string,
  from: number,
  into: EnvelopeMembers,
  depth: number,
  maxDepth: number,
  maxNodes: number,
): number {
  into.seen = 0
  into.duplicates = 0
  into.stoppedIn = 0
  if (into.others.length > 0) into.others = []
  into.nodes++
  if (depth >= maxDepth) return TOO_DEEP
  let at = skipSpace(text, from + 1)
  if (text.charCodeAt(at) === CLOSE_OBJECT) return at + 1
  for (;;) {
    if (text.charCodeAt(at) !== QUOTE) return NOT_JSON
    const keyEnd = skipString(text, at)
    if (keyEnd < 0) return NOT_JSON
    const member = memberAt(text, at, keyEnd)
    if (member < 0) return NOT_JSON
    at = text.charCodeAt(keyEnd) === COLON ? keyEnd : skipSpace(text, keyEnd)
    if (text.charCodeAt(at) !== COLON) return NOT_JSON
    at = skipSpace(text, at + 1)
    into.nodes += 2
    if (into.nodes > maxNodes) {
      // Not kept until the next message: there may be hundreds of thousands.
      into.others = []
      return TOO_MANY_NODES
    }
    const end = skipValue(text, at, into, depth + 1, maxDepth, maxNodes)
    if (end < 0) {
      into.stoppedIn = member
      return end
    }
    note(into, member, at, end)
    at = skipSpace(text, end)
    const c = text.charCodeAt(at)
    if (c === CLOSE_OBJECT) return at + 1
    if (c !== COMMA) return NOT_JSON
    at = skipSpace(text, at + 1)
  }
}

/** Returns the position after the value that begins at `from`. */
export function skipValue(
  text: string,
  from: number,
  into: EnvelopeMembers,
  depth: number,
  maxDepth: number,
  maxNodes: number,
): number {
  const first = text.charCodeAt(from)
  if (first === QUOTE) return skipString(text, from)
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return skipScalar(text, from)
  let level = depth + 1
  if (level > maxDepth) return TOO_DEEP
  let nodes = into.nodes
  const end = text.length
  for (let at = from + 1; at < end; at++) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) {
      at = skipString(text, at) - 1
      if (at < 0) return NOT_JSON
    } else if (c === COMMA || c === COLON) {
      nodes++
    } else if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      if (++level > maxDepth) return TOO_DEEP
      nodes++
    } else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) {
      if (--level === depth) {
        into.nodes = nodes
        return nodes > maxNodes ? TOO_MANY_NODES : at + 1
      }
    }
    // Checked inside the loop, so that a huge array is not read to its end first.
    if (nodes > maxNodes) return TOO_MANY_NODES
  }
  return NOT_JSON
}

// Long strings are left to indexOf, which compares many characters at a time; for short strings its
// call costs more than this loop.
const LONG = 48

/** Returns the position after the string that begins at `from`, or NOT_JSON if it does not end. */
function skipString(text: string, from: number): number {
  const near = Math.min(text.length, from + LONG)
  let at = from + 1
  while (at < near) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) return at + 1
    at += c === BACKSLASH ? 2 : 1
  }
  return stringEnd(text, at)
}

/**
 * Returns the position after the string that contains `from`, which follows no backslash; or NOT_JSON.
 */
export function stringEnd(text: string, from: number): number {
  let at = from
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return NOT_JSON
    let slashes = 0
    while (quote - slashes > at && text.charCodeAt(quote - slashes - 1) === BACKSLASH) slashes++
    at = quote + 1
    if (slashes % 2 === 0) return at
  }
}

/** Skips a number, true, false, null, or any other text up to the next delimiter. */
function skipScalar(text: string, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === COMMA || c === CLOSE_OBJECT || c === CLOSE_ARRAY || c <= 32) break
  }
  return at === from ? NOT_JSON : at
}

function note(into: EnvelopeMembers, member: number, at: number, end: number): void {
  const again = into.seen & member
  if (member === 0 || again !== 0) {
    into.duplicates |= again
    into.others.push(at, end)
    return
  }
  into.seen |= member
  if (member === seen.jsonrpc) {
    into.versionAt = at
    into.versionEnd = end
  } else if (member === seen.id) {
    into.idAt = at
    into.idEnd = end
  } else if (member === seen.method) {
    into.methodAt = at
    into.methodEnd = end
  } else if (member === seen.params) {
    into.paramsAt = at
    into.paramsEnd = end
  } else if (member === seen.result) {
    into.resultAt = at
    into.resultEnd = end
  } else {
    into.errorAt = at
    into.errorEnd = end
  }
}

/**
 * Returns the bit of the member that the key `"…"` at `[at, end)` names, 0 for an unknown member, or
 * NOT_JSON.
 */
function memberAt(text: string, at: number, end: number): number {
  const length = end - at - 2
  const first = text.charCodeAt(at + 1)
  if (length === 6) {
    if (first === 109 && is(text, at, '"method"')) return seen.method
    if (first === 112 && is(text, at, '"params"')) return seen.params
    if (first === 114 && is(text, at, '"result"')) return seen.result
  } else if (length === 2) {
    if (first === 105 && text.charCodeAt(at + 2) === 100) return seen.id
  } else if (length === 7) {
    if (is(text, at, '"jsonrpc"')) return seen.jsonrpc
  } else if (length === 5) {
    if (is(text, at, '"error"')) return seen.error
  }
  return escapedMember(text.slice(at, end))
}

function is(text: string, at: number, word: string): boolean {
  for (let i = 0; i < word.length; i++) {
    if (text.charCodeAt(at + i) !== word.charCodeAt(i)) return false
  }
  return true
}

/** An escaped spelling names the same member: `"\u006dethod"` must not bypass a check. */
function escapedMember(key: string): number {
  try {
    const name: unknown = JSON.parse(key)
    return typeof name === 'string' && Object.hasOwn(seen, name)
      ? seen[name as keyof typeof seen]
      : 0
  } catch {
    return NOT_JSON
  }
}
