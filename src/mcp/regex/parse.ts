/** A node of the syntax tree of a regular expression. */
export type RegexNode =
  /** Matches one character: a literal, an escape, a class or a dot. */
  | { readonly kind: 'character'; readonly source: string }
  | { readonly kind: 'edge'; readonly edge: 'start' | 'end' | 'word' | 'no-word' }
  /** A backreference or look-behind. */
  | { readonly kind: 'irregular'; readonly part?: RegexNode }
  /** A look-ahead. */
  | { readonly kind: 'look'; readonly part: RegexNode; readonly isNegative: boolean }
  | { readonly kind: 'sequence'; readonly parts: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly parts: readonly RegexNode[] }
  | {
      readonly kind: 'repeat'
      readonly part: RegexNode
      readonly min: number
      readonly max: number
    }

export interface Parsed {
  readonly root: RegexNode
  /** Whether it has neither look-behind nor backreferences, so that an automaton can run it. */
  readonly isRegular: boolean
}

/** Parses a regular expression that the built-in engine has accepted. */
export function parsePattern(source: string, isUnicode: boolean): Parsed {
  const parser = new Parser(source, isUnicode)
  const root = parser.choice()
  return { root, isRegular: parser.isRegular }
}

const edges: ReadonlyMap<string, Extract<RegexNode, { kind: 'edge' }>> = new Map([
  ['^', { kind: 'edge', edge: 'start' }],
  ['$', { kind: 'edge', edge: 'end' }],
  ['\\b', { kind: 'edge', edge: 'word' }],
  ['\\B', { kind: 'edge', edge: 'no-word' }],
])

const unicodeEscape =
  /\\(?:u\{[\da-fA-F]+\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|k(?:<[^>]*>)?|[1-9]\d*|[\s\S])/uy
// Without the flag `u`, escapes stand for surrogate halves.
const plainEscape = /\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|k(?:<[^>]*>)?|[1-9]\d*|[\s\S])/y
const characterClass = /\[(?:[^\]\\]|\\[\s\S])*\]/y
const quantifier = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y

class Parser {
  readonly #source: string
  readonly #isUnicode: boolean
  #at = 0
  isRegular = true

  constructor(source: string, isUnicode: boolean) {
    this.#source = source
    this.#isUnicode = isUnicode
  }

  choice(): RegexNode {
    const parts = [this.#sequence()]
    while (this.#source[this.#at] === '|') {
      this.#at++
      parts.push(this.#sequence())
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'choice', parts }
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? '')) {
      parts.push(this.#repeated(this.#atom()))
    }
    return { kind: 'sequence', parts }
  }

  #repeated(part: RegexNode): RegexNode {
    const found = this.#take(quantifier)
    if (found === undefined) return part
    const [, sign, from = '', comma, to = ''] = found
    if (sign === '*') return { kind: 'repeat', part, min: 0, max: Number.POSITIVE_INFINITY }
    if (sign === '+') return { kind: 'repeat', part, min: 1, max: Number.POSITIVE_INFINITY }
    if (sign === '?') return { kind: 'repeat', part, min: 0, max: 1 }
    const min = Number(from)
    if (comma === undefined) return { kind: 'repeat', part, min, max: min }
    return { kind: 'repeat', part, min, max: to === '' ? Number.POSITIVE_INFINITY : Number(to) }
  }

  #atom(): RegexNode {
    const first = this.#source[this.#at]
    if (first === '(') return this.#group()
    if (first === '[') return { kind: 'character', source: this.#take(characterClass)?.[0] ?? '[' }
    const source = first === '\\' ? this.#escape() : this.#character()
    const edge = edges.get(source)
    if (edge !== undefined) return edge
    if (/^\\[1-9k]/.test(source)) {
      this.isRegular = false
      return { kind: 'irregular' }
    }
    return { kind: 'character', source }
  }

  #group(): RegexNode {
    const open = this.#take(/\((?:\?(?:[:=!]|<[=!]|<[^>]*>|[a-z-]*:))?/y)?.[0] ?? '('
    const part = this.choice()
    this.#at++
    if (open === '(?=' || open === '(?!') {
      return { kind: 'look', part, isNegative: open === '(?!' }
    }
    if (open === '(?<=' || open === '(?<!') {
      this.isRegular = false
      return { kind: 'irregular', part }
    }
    // Inline flags change the meaning of characters in a group.
    if (/^\(\?[a-z-]+:/.test(open)) this.isRegular = false
    return part
  }

  #escape(): string {
    return this.#take(this.#isUnicode ? unicodeEscape : plainEscape)?.[0] ?? this.#character()
  }

  #character(): string {
    const code = this.#isUnicode
      ? (this.#source.codePointAt(this.#at) ?? 0)
      : this.#source.charCodeAt(this.#at)
    this.#at += code > 0xffff ? 2 : 1
    return String.fromCodePoint(code)
  }

  /** Matches a sticky expression at the current position, and moves past the match. */
  #take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)
    if (found === null) return undefined
    this.#at = expression.lastIndex
    return found
  }
}
