import { limits } from '../../util/limits/limits.ts'
import { type Effort, effortOf, isAnchored, statesOf, stepsOf } from './effort.ts'
import { Automaton } from './nfa.ts'
import { type Parsed, parsePattern } from './parse.ts'
import type { WorkBudget } from './work-budget.ts'

/** A regular expression of a schema that tests any string within a budget of work. */
export interface Pattern {
  /** Whether it matches anywhere in the text. Throws WorkExceeded if that takes too much work. */
  test(text: string, budget: WorkBudget): boolean
  toString(): string
  /** What it takes to compile and to keep, in states of an automaton. */
  readonly size: number
}

/**
 * Compiles the source of a regular expression of JSON Schema: not anchored, with the flag `u`, or
 * without it if the source is valid only without.
 *
 * The built-in engine is fast, but some expressions and texts keep it busy for years. So the maximum of
 * its steps is estimated first; above a bound an automaton is used, whose time is linear in the text
 * (quadratic with look-ahead). An automaton cannot run backreferences and look-behind: an expression
 * that has those and nested repetitions is rejected.
 *
 * Throws an Error with the reason if the source is invalid or rejected, or larger than `maxSize`. Takes
 * time and memory proportional to the length of the source, whatever it repeats.
 */
export function compilePattern(
  source: string,
  maxSize: number = limits.schemaPatternSize.default,
): Pattern {
  const { default: maxLength } = limits.patternLength
  if (source.length > maxLength) throw new Error(`longer than ${maxLength} characters`)
  const native = nativeOf(source)
  const parsed = parsePattern(source, native.unicode)
  const { isNested } = effortOf(parsed.root)
  if (isNested && !parsed.isRegular) {
    throw new Error(
      'has nested repetitions and a backreference or look-behind, and may never terminate',
    )
  }
  const states = statesOf(parsed.root)
  // A large automaton is built only if nothing else can run the expression.
  const hasAutomaton = parsed.isRegular && (isNested || states <= optionalStates)
  const size = source.length + unicodeClasses(source) + (hasAutomaton ? states : 0)
  if (!(size <= maxSize)) throw new Error('repeats too much, or has too many character classes')
  // The engine reports an expression that is too large only on first use.
  if (!isNested) native.test('')
  const work = nativeWork(parsed)
  const test = hasAutomaton ? eitherTest(native, parsed, work) : nativeTest(native, work)
  return { test, size, toString: () => String(new RegExp(source, native.flags)) }
}

const optionalStates = 2000

// Compiling one for texts beyond Latin-1 takes milliseconds.
const unicodeClassSize = 700

function unicodeClasses(source: string): number {
  return (source.match(/\\p\{/gi)?.length ?? 0) * unicodeClassSize
}

/** The effort for all positions at which a match may start. */
function attempts({ root }: Parsed, longest: number): Effort {
  const effort = effortOf(root, longest)
  return isAnchored(root) ? effort : { ...effort, exponent: effort.exponent + 1 }
}

// A step of the built-in engine takes a fraction of that of an automaton; starting it takes several.
const nativeStep = 0.5
const nativeStart = 8

/** Returns the work of the built-in engine, at most, by the length of the text. */
function nativeWork(parsed: Parsed): (length: number) => number {
  const [exact, short] = [attempts(parsed, Number.POSITIVE_INFINITY), attempts(parsed, 16)]
  if (exact.isNested) return () => Number.POSITIVE_INFINITY
  return length =>
    Math.min(stepsOf(exact, length), stepsOf(short, length)) * nativeStep + nativeStart
}

function nativeTest(native: RegExp, work: (length: number) => number): Pattern['test'] {
  return (text, budget) => {
    budget.spend(work(text.length))
    return native.test(text)
  }
}

/** Tests with whichever of the built-in engine and an automaton takes less work. */
function eitherTest(
  native: RegExp,
  { root }: Parsed,
  work: (length: number) => number,
): Pattern['test'] {
  // Most texts need none.
  let automaton: Automaton | undefined
  return (text, budget) => {
    const steps = work(text.length)
    // Up to here the built-in engine is at least as fast, even if it takes as long as it can.
    if (steps <= 4 * text.length + 256) {
      budget.spend(steps)
      try {
        return native.test(text)
      } catch {
        // Out of memory for backtracking, after millions of characters.
      }
    }
    automaton ??= new Automaton(root, native.flags)
    return automaton.test(text, budget)
  }
}

/**
 * Whether the built-in engine looks for the end of a match of fixed length in the middle of a surrogate pair, as that
 * of Node.js 26 does. An alternative that never matches makes the length variable for it.
 */
const misplacesEnds = !/[^a]$/u.test('\u{1f600}')

function nativeOf(source: string): RegExp {
  try {
    const native = new RegExp(source, 'u')
    return misplacesEnds && source.includes('$') ? new RegExp(`(?:${source}|[])`, 'u') : native
  } catch {
    // Many schemas escape more than the flag allows, as in "\@".
    return new RegExp(source)
  }
}
