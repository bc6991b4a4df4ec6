import { Automaton } from './nfa.ts'
import { parsePattern, type RegexNode } from './parse.ts'

/** A regular expression of a schema that tests any string in bounded time. */
export interface Pattern {
  /** Whether it matches anywhere in the text. A text that is too long to test does not match. */
  test(text: string): boolean
  toString(): string
}

/** Longer than expressions written by hand; each character may become a state of the automaton. */
const maxLength = 4096
/**
 * How many steps the built-in engine may take for one text: if the steps are linear in the text, if an
 * automaton can replace it for long texts, and if it alone can run the expression. In the last case the
 * steps are overestimated, most of all for long expressions.
 */
const budgets = { linear: 1e9, replaceable: 1e6, needed: 1e8 }
/** How much work the automaton may do for one text, in characters times states: about a second. */
const maxWork = 1e8

/**
 * Compiles the source of a regular expression of JSON Schema: not anchored, with the flag `u`, or
 * without it if the source is valid only without.
 *
 * The built-in engine is fast, but some expressions and texts keep it busy for years. So the maximum of
 * its steps is estimated first; above a bound an automaton is used, whose time is linear in the text
 * (quadratic with look-ahead). An automaton cannot run backreferences and look-behind: an expression
 * that has those and nested repetitions is rejected.
 *
 * Throws an Error with the reason if the source is invalid or rejected.
 */
export function compilePattern(source: string): Pattern {
  if (source.length > maxLength) throw new Error(`longer than ${maxLength} characters`)
  const native = nativeOf(source)
  const { root, isRegular } = parsePattern(source, native.unicode)
  const effort = effortOf(root)
  const exponent = effort.exponent + (isAnchored(root) ? 0 : 1)
  if (effort.isNested && !isRegular) {
    throw new Error(
      'has nested repetitions and a backreference or look-behind, and may never terminate',
    )
  }
  const kind = exponent <= 1 ? 'linear' : isRegular ? 'replaceable' : 'needed'
  // Needed for every text, or for long ones only; then it is made when there is one.
  let automaton = effort.isNested ? new Automaton(root, native.flags) : undefined
  return {
    test(text) {
      if (!effort.isNested && effort.factor * text.length ** exponent <= budgets[kind]) {
        try {
          return native.test(text)
        } catch {
          // Out of memory for backtracking, after millions of characters.
        }
      }
      if (!isRegular) return false
      automaton ??= new Automaton(root, native.flags)
      return automaton.work(text.length) <= maxWork && automaton.test(text)
    },
    toString: () => String(native),
  }
}

function nativeOf(source: string): RegExp {
  let native: RegExp
  try {
    native = new RegExp(source, 'u')
  } catch {
    // Many schemas escape more than the flag allows, as in "\@".
    native = new RegExp(source)
  }
  // The engine reports an expression that is too large only on first use.
  native.test('')
  return native
}

/** The backtracking of the built-in engine, at most: `factor` times `length ** exponent`. */
interface Effort {
  readonly factor: number
  readonly exponent: number
  /** Whether something ambiguous is repeated, so that there is no useful bound. */
  readonly isNested: boolean
}

const once: Effort = { factor: 1, exponent: 0, isNested: false }

function effortOf(part: RegexNode): Effort {
  switch (part.kind) {
    case 'character':
    case 'edge':
      return once
    case 'irregular':
      return part.part === undefined ? once : effortOf(part.part)
    case 'look':
      return effortOf(part.part)
    case 'sequence':
      return part.parts.map(effortOf).reduce(
        (sum, effort) => ({
          factor: sum.factor * effort.factor,
          exponent: sum.exponent + effort.exponent,
          isNested: sum.isNested || effort.isNested,
        }),
        once,
      )
    case 'choice':
      return part.parts.map(effortOf).reduce((sum, effort) => ({
        factor: sum.factor + effort.factor,
        exponent: Math.max(sum.exponent, effort.exponent),
        isNested: sum.isNested || effort.isNested,
      }))
    case 'repeat': {
      const inner = effortOf(part.part)
      if (part.max <= 1) return { ...inner, factor: inner.factor + 1 }
      const isNested = inner.isNested || inner.factor > 1 || inner.exponent > 0
      return part.max === Number.POSITIVE_INFINITY
        ? { factor: 1, exponent: 1, isNested }
        : { factor: part.max - part.min + 1, exponent: 0, isNested }
    }
  }
}

/** Whether it can match only at the start of the text, so that one attempt is enough. */
function isAnchored(part: RegexNode): boolean {
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
