import { Automaton } from './nfa.ts'
import { type Part, parsePattern } from './parse.ts'

/** A regular expression of a schema, which answers in bounded time whatever text it is given. */
export interface Pattern {
  /** Whether it matches somewhere. A text that is too long to be sure about does not match. */
  test(text: string): boolean
  toString(): string
}

/** More characters than anybody writes by hand; each may become a state of an automaton. */
const maxLength = 4096
/**
 * What the built-in engine may do for one text, in steps: where these are in proportion to the text,
 * where an automaton is better from some length on, and where it alone can do it. Then the steps are
 * overestimated, most of all for long expressions.
 */
const budgets = { linear: 1e9, replaceable: 1e6, needed: 1e8 }
/** What the automaton may do for one text, in characters times states: about a second. */
const maxWork = 1e8

/**
 * Makes a pattern of the source of a regular expression as JSON Schema has them: not anchored, with
 * the flag `u`, or without it where the source is written in a way that only works without.
 *
 * The built-in engine is quick, but there are expressions and texts that keep it busy for years. So
 * the most it could do is estimated first; beyond a bound an automaton answers, which takes time in
 * proportion to the text (to its square with look-ahead). Backreferences and looking behind are beyond
 * an automaton: an expression that repeats repetitions and has those too is refused.
 *
 * Throws an Error that says what is wrong with the source.
 */
export function compilePattern(source: string): Pattern {
  if (source.length > maxLength) throw new Error(`longer than ${maxLength} characters`)
  const native = nativeOf(source)
  const { root, isRegular } = parsePattern(source, native.unicode)
  const effort = effortOf(root)
  const exponent = effort.exponent + (isAnchored(root) ? 0 : 1)
  if (effort.isNested && !isRegular) {
    throw new Error('repeats a repetition beside a backreference or looking behind: may never end')
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
          // Out of memory for its way back, after millions of characters.
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
    // Many a schema escapes more than the flag allows, as in "\@".
    native = new RegExp(source)
  }
  // The engine says that an expression is too big for it only when it is first used.
  native.test('')
  return native
}

/** How often the built-in engine may have to come back: `factor` times `length ** exponent`. */
interface Effort {
  readonly factor: number
  readonly exponent: number
  /** Something that can match in several ways is repeated: there is no useful bound. */
  readonly isNested: boolean
}

const once: Effort = { factor: 1, exponent: 0, isNested: false }

function effortOf(part: Part): Effort {
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

/** Whether it can match at the beginning of the text only, so that one attempt is enough. */
function isAnchored(part: Part): boolean {
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
