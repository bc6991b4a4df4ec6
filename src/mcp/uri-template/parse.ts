/** How an expression of RFC 6570 begins; the empty text is simple expansion. */
export type Operator = '' | '+' | '#' | '.' | '/' | ';' | '?' | '&'

/** One variable of an expression. */
export interface Variable {
  readonly name: string
  /** Whether a list or object is taken apart: `{list*}`. */
  readonly explode: boolean
  /** How many characters of the value are used: `{name:3}`. */
  readonly prefix: number | undefined
}

/** What stands between braces. */
export interface Expression {
  readonly operator: Operator
  readonly variables: readonly Variable[]
}

/** A template is made of text, here as it goes into a URI, and expressions. */
export type Part = string | Expression

/** The most characters that a template may have. */
export const maxTemplateLength = 8192

/** Takes a template apart. Throws a TypeError that says what is wrong with it, and where. */
export function parseParts(text: string): Part[] {
  if (text.length > maxTemplateLength) {
    throw new TypeError(`a URI template of more than ${maxTemplateLength} characters`)
  }
  const parts: Part[] = []
  let place = 0
  while (place < text.length) {
    const open = text.indexOf('{', place)
    const end = open === -1 ? text.length : open
    if (end > place) parts.push(literal(text.slice(place, end), text))
    if (open === -1) break
    const close = text.indexOf('}', open)
    if (close === -1) throw bad(text, `"{" at ${open} is never closed`)
    parts.push(expression(text.slice(open + 1, close), text))
    place = close + 1
  }
  return parts
}

/** Percent-encodes what may not stand in a URI, and leaves the rest, escapes included. */
export function encodeReserved(text: string): string {
  return text.replace(/%[\da-f]{2}|[^%]+|%/gi, piece =>
    piece.length === 3 && piece.startsWith('%')
      ? piece
      : encodeURI(piece).replaceAll('%5B', '[').replaceAll('%5D', ']'),
  )
}

/**
 * A URI in the form in which it is compared: escapes in upper case, and everything escaped that cannot
 * stand in a URI. Undefined for one that has no such form.
 */
export function normalised(uri: string): string | undefined {
  if (/^[!#-$&-;=?-[\]_a-z~]*$/.test(uri)) return uri
  if (!uri.isWellFormed() || /%(?![\da-f]{2})/i.test(uri)) return undefined
  return uri
    .replace(/[^!-~]+|["<>\\^`{|}]+/g, encodeURIComponent)
    .replace(/%(?:[a-f][\da-fA-F]|[\dA-F][a-f])/g, triplet => triplet.toUpperCase())
}

// RFC 6570, section 2.1; the apostrophe is let through because URIs have it.
const notLiteral = /[\0-\x20"<>\\^`|}\x7f]|%(?![\da-f]{2})/i

function literal(piece: string, text: string): string {
  const wrong = notLiteral.exec(piece)?.[0]
  if (wrong !== undefined) {
    throw bad(text, wrong === '}' ? '"}" without "{"' : `${JSON.stringify(wrong)} must be encoded`)
  }
  if (!piece.isWellFormed()) throw bad(text, 'half of a surrogate pair')
  return encodeReserved(piece)
}

const operators: ReadonlySet<string> = new Set<Operator>(['+', '#', '.', '/', ';', '?', '&'])

function expression(body: string, text: string): Expression {
  const first = body.charAt(0)
  // Kept for later versions of the RFC, section 2.2.
  if (first !== '' && '=,!@|'.includes(first))
    throw bad(text, `the operator "${first}" is reserved`)
  const operator = isOperator(first) ? first : ''
  const list = body.slice(operator.length)
  if (list === '') throw bad(text, `"{${body}}" names no variable`)
  return { operator, variables: list.split(',').map(spec => variable(spec, text)) }
}

function isOperator(text: string): text is Operator {
  return operators.has(text)
}

const variablePattern =
  /^((?:\w|%[\da-f]{2})+(?:\.(?:\w|%[\da-f]{2})+)*)(?:(\*)|:([1-9]\d{0,3}))?$/i

function variable(spec: string, text: string): Variable {
  const [, name, star, length] = variablePattern.exec(spec) ?? []
  if (name === undefined) {
    const rule = 'letters, digits, "_" and ".", then perhaps "*" or ":" and a number below 10000'
    throw bad(text, `"${spec}" is no variable: ${rule}`)
  }
  return {
    name,
    explode: star !== undefined,
    prefix: length === undefined ? undefined : Number(length),
  }
}

function bad(text: string, why: string): TypeError {
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text
  return new TypeError(`the URI template "${shown}" is malformed: ${why}`)
}
