import type { RegexNode } from './parse.ts'
import type { WorkBudget } from './work-budget.ts'

/**
 * One instruction: consume a character, or continue without one. `next` and `other` are addresses in
 * the program.
 */
type Step =
  | { readonly kind: 'take'; readonly takes: Takes }
  | { readonly kind: 'fork'; readonly next: number; readonly other: number }
  | { readonly kind: 'edge'; readonly edge: Extract<RegexNode, { kind: 'edge' }>['edge'] }
  | { readonly kind: 'look'; readonly ahead: Automaton; readonly isNegative: boolean }
  | { readonly kind: 'done' }

/** The characters that an instruction consumes: ASCII from a table, others by a regular expression. */
interface Takes {
  /** For each ASCII character 1 or 2 if it is known to be consumed or not, else 0. */
  readonly usual: Uint8Array
  readonly expression: RegExp
}

/** What the automata of one expression share. */
interface Shared {
  readonly flags: string
  readonly takes: Map<string, Takes>
  /** The automata of look-aheads. A repetition copies the look-aheads in it. */
  readonly looks: Map<RegexNode, Automaton>
}

// The work of visiting one state, of looking ahead or at a word boundary, and of running the built-in engine on one
// character.
const stateWork = 3
const lookWork = 10
const characterWork = 20

/**
 * A nondeterministic finite automaton that simulates all paths at once, so that its time is linear in
 * the text, apart from look-ahead. It reports only whether there is a match.
 */
export class Automaton {
  readonly #program: Step[] = []
  readonly #shared: Shared
  readonly #isUnicode: boolean
  /** The stamp of the run and position at which each state was reached last. */
  readonly #seenAt: Float64Array
  #stamp = 0
  /** The states that wait for the next character, and their number. */
  #waiting: Int32Array
  #count = 0
  /** The states of the previous character, while they are processed. */
  #current: Int32Array
  readonly #todo: Int32Array

  /**
   * Compiles an expression, which must be regular. Repetitions are unrolled: `statesOf` says how many
   * states that takes.
   */
  constructor(root: RegexNode, flags: string, shared?: Shared) {
    this.#shared = shared ?? { flags, takes: new Map(), looks: new Map() }
    this.#isUnicode = flags.includes('u')
    this.#write(root)
    this.#push({ kind: 'done' })
    const size = this.#program.length
    this.#seenAt = new Float64Array(size)
    this.#waiting = new Int32Array(size)
    this.#current = new Int32Array(size)
    // Each state has at most two successors, and is expanded once.
    this.#todo = new Int32Array(size * 2 + 1)
  }

  /** Whether there is a match anywhere in the text. Throws WorkExceeded if that takes too much work. */
  test(text: string, budget: WorkBudget): boolean {
    return this.#run(text, 0, true, budget)
  }

  /** Whether there is a match that starts exactly here. */
  isAhead(text: string, at: number, budget: WorkBudget): boolean {
    return this.#run(text, at, false, budget)
  }

  #run(text: string, start: number, isSearching: boolean, budget: WorkBudget): boolean {
    const program = this.#program
    const isUnicode = this.#isUnicode
    this.#stamp++
    this.#count = 0
    if (this.#reach(0, text, start, budget)) return true
    for (let at = start; at < text.length && (isSearching || this.#count > 0); ) {
      const code = isUnicode ? (text.codePointAt(at) ?? 0) : text.charCodeAt(at)
      at += code > 0xffff ? 2 : 1
      this.#stamp++
      const current = this.#waiting
      const count = this.#count
      this.#waiting = this.#current
      this.#current = current
      this.#count = 0
      budget.spend((count + 1) * (code < 128 ? stateWork : characterWork))
      for (let index = 0; index < count; index++) {
        const place = current[index] ?? 0
        const step = program[place]
        if (step?.kind !== 'take' || !isTaken(step.takes, code)) continue
        if (this.#reach(place + 1, text, at, budget)) return true
      }
      // A match may start anywhere.
      if (isSearching && this.#reach(0, text, at, budget)) return true
    }
    return false
  }

  /** Adds a state and all that are reachable from it without a character; returns true for a match. */
  #reach(start: number, text: string, at: number, budget: WorkBudget): boolean {
    const todo = this.#todo
    const seenAt = this.#seenAt
    const stamp = this.#stamp
    let work = 0
    todo[0] = start
    for (let height = 1; height > 0; ) {
      const place = todo[--height] ?? 0
      if (seenAt[place] === stamp) continue
      seenAt[place] = stamp
      work++
      const step = this.#program[place]
      if (step === undefined || step.kind === 'done') {
        budget.spend(work * stateWork)
        return true
      }
      if (step.kind === 'take') this.#waiting[this.#count++] = place
      else if (step.kind === 'fork') {
        todo[height++] = step.other
        todo[height++] = step.next
      } else if (isPassed(step, text, at, budget)) todo[height++] = place + 1
    }
    budget.spend(work * stateWork)
    return false
  }

  #write(part: RegexNode): void {
    switch (part.kind) {
      case 'character':
        this.#push({ kind: 'take', takes: this.#takesOf(part.source) })
        return
      case 'edge':
        this.#push(part)
        return
      case 'sequence':
        for (const inner of part.parts) this.#write(inner)
        return
      case 'choice':
        this.#writeChoice(part.parts)
        return
      case 'repeat':
        this.#writeRepeat(part)
        return
      case 'look': {
        const { looks, flags } = this.#shared
        const ahead = looks.get(part) ?? new Automaton(part.part, flags, this.#shared)
        looks.set(part, ahead)
        this.#push({ kind: 'look', ahead, isNegative: part.isNegative })
        return
      }
      case 'irregular':
        throw new Error('beyond an automaton')
    }
  }

  #writeChoice([first, ...rest]: readonly RegexNode[]): void {
    if (first === undefined) return
    if (rest.length === 0) {
      this.#write(first)
      return
    }
    const fork = this.#push({ kind: 'done' })
    this.#write(first)
    const leave = this.#push({ kind: 'done' })
    this.#program[fork] = { kind: 'fork', next: fork + 1, other: leave + 1 }
    this.#writeChoice(rest)
    const end = this.#program.length
    this.#program[leave] = { kind: 'fork', next: end, other: end }
  }

  #writeRepeat({ part, min, max }: Extract<RegexNode, { kind: 'repeat' }>): void {
    const start = this.#program.length
    for (let count = 0; count < min; count++) {
      this.#write(part)
      // Repeating an empty expression has no effect.
      if (this.#program.length === start) return
    }
    if (max === Number.POSITIVE_INFINITY) {
      const fork = this.#push({ kind: 'done' })
      this.#write(part)
      this.#push({ kind: 'fork', next: fork, other: fork })
      this.#program[fork] = { kind: 'fork', next: fork + 1, other: this.#program.length }
      return
    }
    const forks: number[] = []
    for (let count = min; count < max; count++) {
      const fork = this.#push({ kind: 'done' })
      this.#write(part)
      if (this.#program.length === fork + 1) {
        this.#program.pop()
        return
      }
      forks.push(fork)
    }
    const end = this.#program.length
    for (const fork of forks) this.#program[fork] = { kind: 'fork', next: fork + 1, other: end }
  }

  #push(step: Step): number {
    return this.#program.push(step) - 1
  }

  #takesOf(source: string): Takes {
    const { takes, flags } = this.#shared
    const known = takes.get(source)
    if (known !== undefined) return known
    // The built-in engine decides which single characters a character class matches.
    const made = { usual: new Uint8Array(128), expression: new RegExp(`^(?:${source})$`, flags) }
    takes.set(source, made)
    return made
  }
}

function isTaken({ usual, expression }: Takes, code: number): boolean {
  if (code >= 128) return expression.test(String.fromCodePoint(code))
  const known = usual[code]
  if (known !== 0) return known === 1
  const isMatch = expression.test(String.fromCharCode(code))
  usual[code] = isMatch ? 1 : 2
  return isMatch
}

function isPassed(
  step: Extract<Step, { kind: 'edge' | 'look' }>,
  text: string,
  at: number,
  budget: WorkBudget,
): boolean {
  if (step.kind === 'edge') {
    if (step.edge === 'start') return at === 0
    if (step.edge === 'end') return at === text.length
  }
  budget.spend(lookWork)
  if (step.kind === 'look') return step.ahead.isAhead(text, at, budget) !== step.isNegative
  return (isWord(text, at - 1) !== isWord(text, at)) === (step.edge === 'word')
}

/** Whether there is a character of a word here, as `\w` says. */
function isWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  // An underscore, a digit, or a letter in upper or lower case.
  return code === 95 || (code >= 48 && code <= 57) || isLetter(code & ~32)
}

function isLetter(upperCase: number): boolean {
  return upperCase >= 65 && upperCase <= 90
}
