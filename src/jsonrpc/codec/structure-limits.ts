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
import { stringEnd } from './scan.ts'

/** The bounds of a structure. */
interface Bounds {
  readonly maxDepth: number
  readonly maxNodes: number
}

/**
 * Whether the value at `[at, end)`, inside one object that already counts `nodes`, keeps to the
 * limits of nesting and nodes. Exact for JSON; for anything else the parser has the last word.
 *
 * Most texts are let through by what they cannot be: too short for so much nesting, or with too few
 * opening brackets, which indexOf counts faster than any loop. Only the rest is read.
 */
export function structureFits(
  text: string,
  at: number,
  end: number,
  nodes: number,
  bounds: Bounds,
): boolean {
  // A node takes two characters at least, and so does a level.
  const most = (end - at + 1) >> 1
  const depth = bounds.maxDepth - 1
  const fewNodes = nodes + most <= bounds.maxNodes
  if (fewNodes && (most <= depth || hasFewBrackets(text, at, end, depth))) return true
  return countStructure(text, at, end, nodes, bounds)
}

function hasFewBrackets(text: string, at: number, end: number, most: number): boolean {
  let count = 0
  for (let i = text.indexOf('[', at); i >= 0 && i < end; i = text.indexOf('[', i + 1)) {
    if (++count > most) return false
  }
  // Objects inside each other take five characters a level, `{"":}`, save the innermost, `{}`. That
  // alone lets most messages through.
  if (count + 1 + (end - at) / 5 <= most) return true
  for (let i = text.indexOf('{', at); i >= 0 && i < end; i = text.indexOf('{', i + 1)) {
    if (++count > most) return false
  }
  return true
}

// Characters of a string cost twice what elements of an array of bytes cost, so the text is read
// through a window of bytes. Nothing outside ASCII has a meaning here, so a character cut in half at
// the edge of the window does no harm.
const WINDOW = 16_384
const encoder = new TextEncoder()
let window: Uint8Array | undefined

// Where a string goes on for longer than this, indexOf finds its end faster than the loop.
const LONG = 48

function countStructure(
  text: string,
  at: number,
  end: number,
  nodesAround: number,
  bounds: Bounds,
): boolean {
  window ??= new Uint8Array(WINDOW * 3)
  const bytes = window
  // The opening bracket of the value is counted where it is met, its node already by the caller.
  let nodes = nodesAround - 1
  let depth = 1
  let inString = false
  // Bytes of the next window that belong to an escape begun in this one.
  let skipped = 0
  for (let from = at; from < end; ) {
    const to = Math.min(end, from + WINDOW)
    const { written } = encoder.encodeInto(text.slice(from, to), bytes)
    const isAscii = written === to - from
    let next = to
    let i = skipped
    skipped = 0
    while (i < written) {
      if (inString) {
        const near = isAscii ? Math.min(written, i + LONG) : written
        let c = bytes[i]
        while (c !== QUOTE && c !== BACKSLASH && ++i < near) c = bytes[i]
        if (i < near) {
          if (c === QUOTE) inString = false
          i += c === QUOTE ? 1 : 2
        } else if (near < written) {
          const closed = stringEnd(text, from + i)
          if (closed < 0) return true
          inString = false
          i = closed - from
          if (i > written) next = closed
        }
        continue
      }
      const c = bytes[i++]
      if (c === QUOTE) {
        inString = true
      } else if (c === COMMA || c === COLON) {
        nodes++
      } else if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
        nodes++
        if (++depth > bounds.maxDepth) return false
      } else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) {
        depth--
      }
    }
    if (nodes > bounds.maxNodes) return false
    if (next === to && i > written) skipped = i - written
    from = next
  }
  return true
}
