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

/** The limits of a structure. */
interface StructureLimits {
  readonly maxDepth: number
  readonly maxNodes: number
}

/**
 * Whether the value at `[at, end)`, inside an object that already counts `nodes`, is within the limits
 * of nesting and nodes. Exact for JSON; invalid JSON is rejected later by the parser.
 *
 * Most texts pass without being read: they are too short for the nesting, or have too few opening
 * brackets, which indexOf counts faster than any loop. Only the rest is counted.
 */
export function structureFits(
  text: string,
  at: number,
  end: number,
  nodes: number,
  limits: StructureLimits,
): boolean {
  // A node takes at least two characters, and so does a level.
  const maxPossible = (end - at + 1) >> 1
  const depth = limits.maxDepth - 1
  const fewNodes = nodes + maxPossible <= limits.maxNodes
  if (fewNodes && (maxPossible <= depth || hasFewBrackets(text, at, end, depth))) return true
  return countStructure(text, at, end, nodes, limits)
}

function hasFewBrackets(text: string, at: number, end: number, max: number): boolean {
  let count = 0
  for (let i = text.indexOf('[', at); i >= 0 && i < end; i = text.indexOf('[', i + 1)) {
    if (++count > max) return false
  }
  // Nested objects take five characters per level, `{"":}`, except the innermost, `{}`. That alone
  // passes most messages.
  if (count + 1 + (end - at) / 5 <= max) return true
  for (let i = text.indexOf('{', at); i >= 0 && i < end; i = text.indexOf('{', i + 1)) {
    if (++count > max) return false
  }
  return true
}

// Reading a character of a string costs twice as much as an element of a byte array, so the text is
// read through a window of bytes. Only ASCII characters matter here, so a character that is cut in half
// at the edge of the window does no harm.
const WINDOW = 16_384
const encoder = new TextEncoder()
let window: Uint8Array | undefined

// In a longer string indexOf finds the end faster than the loop.
const LONG = 48

function countStructure(
  text: string,
  at: number,
  end: number,
  nodesAround: number,
  limits: StructureLimits,
): boolean {
  window ??= new Uint8Array(WINDOW * 3)
  const bytes = window
  // The caller has counted the value as a node already, and its opening bracket counts it again.
  let nodes = nodesAround - 1
  let depth = 1
  let inString = false
  // Bytes of the next window that belong to an escape that began in this one.
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
        if (++depth > limits.maxDepth) return false
      } else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) {
        depth--
      }
    }
    if (nodes > limits.maxNodes) return false
    if (next === to && i > written) skipped = i - written
    from = next
  }
  return true
}
