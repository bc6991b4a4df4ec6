import type { RegexNode } from './parse.ts'

/** The backtracking of the built-in engine, at most: `factor` times `length ** exponent` attempts. */
export interface Effort {
  readonly factor: number
  readonly exponent: number
  /** The steps of one attempt, apart from repetitions without a maximum, which the exponent counts. */
  readonly width: number
  /** Whether something ambiguous is repeated, so that there is no useful bound. */
  readonly isNested: boolean
  /** Whether an attempt may read a character more than once. */
  readonly isRereading: boolean
}

const nothing: Effort = {
  factor: 1,
  exponent: 0,
  width: 0,
  isNested: false,
  isRereading: false,
}
const once: Effort = { ...nothing, width: 1 }
// A backreference compares as many characters as its group has matched.
const comparison: Effort = { ...once, exponent: 1, isRereading: true }

/**
 * Estimates the backtracking of an expression that may match at a single position. Repetitions of more
 * than `longest` times count as repetitions without a maximum: a better estimate for short texts.
 */
export function effortOf(part: RegexNode, longest = Number.POSITIVE_INFINITY): Effort {
  const inside = (inner: RegexNode) => effortOf(inner, longest)
  switch (part.kind) {
    case 'character':
      return once
    case 'edge':
      return nothing
    case 'irregular':
      return part.part === undefined ? comparison : { ...inside(part.part), isRereading: true }
    case 'look':
      return { ...inside(part.part), isRereading: true }
    case 'sequence':
      return part.parts.map(inside).reduce(
        (sum, effort) => ({
          factor: sum.factor * effort.factor,
          exponent: sum.exponent + effort.exponent,
          width: sum.width + effort.width,
          isNested: sum.isNested || effort.isNested,
          isRereading: sum.isRereading || effort.isRereading,
        }),
        nothing,
      )
    case 'choice':
      return part.parts.map(inside).reduce((sum, effort) => ({
        factor: sum.factor + effort.factor,
        exponent: Math.max(sum.exponent, effort.exponent),
        width: Math.max(sum.width, effort.width),
        isNested: sum.isNested || effort.isNested,
        isRereading: sum.isRereading || effort.isRereading,
      }))
    case 'repeat': {
      const inner = inside(part.part)
      if (part.max <= 1) return { ...inner, factor: inner.factor + 1 }
      const isNested = inner.isNested || inner.factor > 1 || inner.exponent > 0
      const { isRereading } = inner
      if (part.max === Number.POSITIVE_INFINITY || part.max - part.min >= longest) {
        const width = part.min * inner.width
        return { factor: 1, exponent: 1, width, isNested, isRereading }
      }
      const width = Math.max(part.min, 1) * inner.width
      return { factor: part.max - part.min + 1, exponent: 0, width, isNested, isRereading }
    }
  }
}

/** Returns the most steps of the built-in engine for a text of this length. */
export function stepsOf(effort: Effort, length: number): number {
  const { factor, exponent, width, isRereading } = effort
  return factor * length ** exponent * Math.max(isRereading ? width : Math.min(width, length), 1)
}

/** Whether it can match only at the start of the text, so that one attempt is enough. */
export function isAnchored(part: RegexNode): boolean {
  switch (part.kind) {
    case 'edge':
      return part.edge === 'start'
    case 'sequence':
      return part.parts[0] !== undefined && isAnchored(part.parts[0])
    case 'choice':
      return part.parts.every(isAnchored)
    default:
      return false
  }
}

/**
 * Returns the number of states of the automaton of an expression, together with those of its
 * look-aheads, without building it.
 */
export function statesOf(root: RegexNode): number {
  let looks = 0
  const count = (part: RegexNode): number => {
    switch (part.kind) {
      case 'character':
      case 'edge':
        return 1
      case 'irregular':
        return 0
      case 'look':
        // Copies of a look-ahead share one automaton.
        looks += count(part.part) + 1
        return 1
      case 'sequence':
        return part.parts.reduce((sum, inner) => sum + count(inner), 0)
      case 'choice':
        return part.parts.reduce((sum, inner) => sum + count(inner) + 2, -2)
      case 'repeat': {
        const inner = count(part.part)
        if (inner === 0) return 0
        return part.max === Number.POSITIVE_INFINITY
          ? (part.min + 1) * inner + 2
          : part.max * inner + part.max - part.min
      }
    }
  }
  return count(root) + looks + 1
}
