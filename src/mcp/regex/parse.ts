/** A piece of a regular expression, as far as its shape goes. */
export type Part =
  /** Anything that matches one character: a letter, an escape, a class, a dot. */
  | { readonly kind: 'character'; readonly source: string }
  | { readonly kind: 'edge'; readonly edge: 'start' | 'end' | 'word' | 'no-word' }
  /** A backreference, or looking behind. */
  | { readonly kind: 'irregular'; readonly part?: Part }
  /** What must follow, or must not. */
  | { readonly kind: 'look'; readonly part: Part; readonly isNegative: boolean }
  | { readonly kind: 'sequence'; readonly parts: readonly Part[] }
  | { readonly kind: 'choice'; readonly parts: readonly Part[] }
  | { readonly kind: 'repeat'; readonly part: Part; readonly min: number; readonly max: number }

export interface Parsed {
  readonly root: Part
  /** Neither looking behind nor backreferences: an automaton can do it. */
  readonly isRegular: boolean
}

/** Takes a regular expression apart that the built-in engine has accepted. */
export function parsePattern(source: string, isUnicode: boolean): Parsed {
  const parser = new Parser(source, isUnicode)
  const root = parser.choice()
  return { root, isRegular: parser.isRegular }
}

const edges: ReadonlyMap<string, Extract<Part, { kind: 'edge' }>> = new Map([
  ['^', { kind: 'edge', edge: 'start' }],
  ['$', { kind: 'edge', edge: 'end' }],
  ['\\b', { kind: 'edge', edge: 'word' }],
  ['\\B', { kind: 'edge', edge: 'no-word' }],
])

const unicodeEscape =
  /\\(?:u\{[\da-fA-F]+\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|k(?:<[^>]*>)?|[1-9]\d*|[\s\S])/uy
// Without the flag, escapes stand for halves of what lies beyond the basic plane.
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

  choice(): Part {
    const parts = [this.#sequence()]
    while (this.#source[this.#at] === '|') {
      this.#at++
      parts.push(this.#sequence())
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'choice', parts }
  }

  #sequence(): Part {
    const parts: Part[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? '')) {
      parts.push(this.#repeated(this.#atom()))
    }
    return { kind: 'sequence', parts }
  }

  #repeated(part: Part): Part {
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

  #atom(): Part {
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

  #group(): Part {
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
    // Flags for a part of the expression change what its characters mean.
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

  /** What a sticky expression finds here, and steps behind it. */
  #take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)
    if (found === null) return undefined
    this.#at = expression.lastIndex
    return found
  }
}
