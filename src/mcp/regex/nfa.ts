import type { RegexNode } from './parse.ts'

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
  readonly usual: Uint8Array
  readonly expression: RegExp
}

/** Repetitions are unrolled, so that a short expression can have many states. */
const maxSteps = 20_000

/**
 * A nondeterministic finite automaton that simulates all paths at once, so that its time is linear in
 * the text, apart from look-ahead. It reports only whether there is a match.
 */
export class Automaton {
  readonly #program: Step[] = []
  readonly #takes = new Map<string, Takes>()
  readonly #flags: string
  /** The text position at which each state was reached last. */
  readonly #seenAt: Int32Array
  /** The states that wait for the next character, and their number. */
  #waiting: Int32Array
  #count = 0
  /** The states of the previous character, while they are processed. */
  #current: Int32Array
  readonly #todo: Int32Array

  /** Compiles an expression, which must be regular. Throws if its repetitions need too many states. */
  constructor(root: RegexNode, flags: string) {
    this.#flags = flags
    this.#write(root)
    this.#push({ kind: 'done' })
    const size = this.#program.length
    this.#seenAt = new Int32Array(size)
    this.#waiting = new Int32Array(size)
    this.#current = new Int32Array(size)
    // Each state has at most two successors, and is expanded once.
    this.#todo = new Int32Array(size * 2 + 1)
  }

  /** Returns an upper bound of the work for a text of this length: characters times states. */
  work(length: number): number {
    return this.#program.reduce(
      (sum, step) => sum + (step.kind === 'look' ? step.ahead.work(length) * length : length),
      0,
    )
  }

  /** Whether there is a match anywhere in the text. */
  test(text: string): boolean {
    return this.#run(text, 0, true)
  }

  #run(text: string, start: number, isSearching: boolean): boolean {
    const program = this.#program
    const isUnicode = this.#flags.includes('u')
    this.#seenAt.fill(-1)
    this.#count = 0
    if (this.#reach(0, text, start)) return true
    for (let at = start; at < text.length && (isSearching || this.#count > 0); ) {
      const code = isUnicode ? (text.codePointAt(at) ?? 0) : text.charCodeAt(at)
      at += code > 0xffff ? 2 : 1
      const current = this.#waiting
      const count = this.#count
      this.#waiting = this.#current
      this.#current = current
      this.#count = 0
      for (let index = 0; index < count; index++) {
        const place = current[index] ?? 0
        const step = program[place]
        if (step?.kind !== 'take' || !isTaken(step.takes, code)) continue
        if (this.#reach(place + 1, text, at)) return true
      }
      // A match may start anywhere.
      if (isSearching && this.#reach(0, text, at)) return true
    }
    return false
  }

  /** Adds a state and all that are reachable from it without a character; returns true for a match. */
  #reach(start: number, text: string, at: number): boolean {
    const todo = this.#todo
    const seenAt = this.#seenAt
    todo[0] = start
    for (let height = 1; height > 0; ) {
      const place = todo[--height] ?? 0
      if (seenAt[place] === at) continue
      seenAt[place] = at
      const step = this.#program[place]
      if (step === undefined || step.kind === 'done') return true
      if (step.kind === 'take') this.#waiting[this.#count++] = place
      else if (step.kind === 'fork') {
        todo[height++] = step.other
        todo[height++] = step.next
      } else if (isPassed(step, text, at)) todo[height++] = place + 1
    }
    return false
  }

  /** Whether there is a match that starts exactly here. */
  isAhead(text: string, at: number): boolean {
    return this.#run(text, at, false)
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
        const ahead = new Automaton(part.part, this.#flags)
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
    for (let count = 0; count < min; count++) {
      const before = this.#program.length
      this.#write(part)
      // Repeating an empty expression has no effect.
      if (this.#program.length === before) return
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
      forks.push(this.#push({ kind: 'done' }))
      this.#write(part)
    }
    const end = this.#program.length
    for (const fork of forks) this.#program[fork] = { kind: 'fork', next: fork + 1, other: end }
  }

  #push(step: Step): number {
    if (this.#program.length >= maxSteps) throw new Error('repeats too much')
    return this.#program.push(step) - 1
  }

  #takesOf(source: string): Takes {
    const known = this.#takes.get(source)
    if (known !== undefined) return known
    // The built-in engine decides which single characters a character class matches.
    const expression = new RegExp(`^(?:${source})$`, this.#flags)
    const usual = Uint8Array.from({ length: 128 }, (_, code) =>
      expression.test(String.fromCharCode(code)) ? 1 : 0,
    )
    const takes = { usual, expression }
    this.#takes.set(source, takes)
    return takes
  }
}

function isTaken({ usual, expression }: Takes, code: number): boolean {
  return code < 128 ? usual[code] === 1 : expression.test(String.fromCodePoint(code))
}

function isPassed(step: Extract<Step, { kind: 'edge' | 'look' }>, text: string, at: number) {
  if (step.kind === 'look') return step.ahead.isAhead(text, at) !== step.isNegative
  switch (step.edge) {
    case 'start':
      return at === 0
    case 'end':
      return at === text.length
    case 'word':
      return isWord(text, at - 1) !== isWord(text, at)
    case 'no-word':
      return isWord(text, at - 1) === isWord(text, at)
  }
}

function isWord(text: string, at: number): boolean {
  return /\w/.test(text.charAt(at))
}
