/** The operator of an expression of RFC 6570; the empty string is simple expansion. */
export type Operator = '' | '+' | '#' | '.' | '/' | ';' | '?' | '&'

/** One variable of an expression. */
export interface Variable {
  readonly name: string
  /** Whether an array or object is exploded: `{list*}`. */
  readonly explode: boolean
  /** The maximum length of the value: `{name:3}`. */
  readonly prefix: number | undefined
}

/** An expression in braces. */
export interface Expression {
  readonly operator: Operator
  readonly variables: readonly Variable[]
}

/** One part of a template: a literal, encoded for a URI, or an expression. */
export type TemplatePart = string | Expression

/** The maximum length of a template. */
export const maxTemplateLength = 8192

/** Parses a template. Throws a TypeError that says what is wrong with it, and where. */
export function parseParts(text: string): TemplatePart[] {
  if (text.length > maxTemplateLength) {
    throw new TypeError(`a URI template must not have more than ${maxTemplateLength} characters`)
  }
  const parts: TemplatePart[] = []
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

/** Percent-encodes characters that are not allowed in a URI, and keeps the rest, including escapes. */
export function encodeReserved(text: string): string {
  return text.replace(/%[\da-f]{2}|[^%]+|%/gi, piece =>
    piece.length === 3 && piece.startsWith('%')
      ? piece
      : encodeURI(piece).replaceAll('%5B', '[').replaceAll('%5D', ']'),
  )
}

/**
 * Normalizes a URI for comparison: escapes in upper case, and invalid characters escaped. Returns
 * undefined for a URI that cannot be normalized.
 */
export function normalized(uri: string): string | undefined {
  if (/^[!#-$&-;=?-[\]_a-z~]*$/.test(uri)) return uri
  if (!uri.isWellFormed() || /%(?![\da-f]{2})/i.test(uri)) return undefined
  return uri
    .replace(/[^!-~]+|["<>\\^`{|}]+/g, encodeURIComponent)
    .replace(/%(?:[a-f][\da-fA-F]|[\dA-F][a-f])/g, triplet => triplet.toUpperCase())
}

// RFC 6570, section 2.1; the apostrophe is allowed because URIs contain it.
const notLiteral = /[\0-\x20"<>\\^`|}\x7f]|%(?![\da-f]{2})/i

function literal(piece: string, text: string): string {
  const wrong = notLiteral.exec(piece)?.[0]
  if (wrong !== undefined) {
    throw bad(text, wrong === '}' ? '"}" without "{"' : `${JSON.stringify(wrong)} must be encoded`)
  }
  if (!piece.isWellFormed()) throw bad(text, 'a lone surrogate')
  return encodeReserved(piece)
}

const operators: ReadonlySet<string> = new Set<Operator>(['+', '#', '.', '/', ';', '?', '&'])

function expression(body: string, text: string): Expression {
  const first = body.charAt(0)
  // Reserved for later versions of the RFC, section 2.2.
  if (first !== '' && '=,!@|'.includes(first))
    throw bad(text, `the operator "${first}" is reserved`)
  const operator = isOperator(first) ? first : ''
  const list = body.slice(operator.length)
  if (list === '') throw bad(text, `"{${body}}" has no variable`)
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
    throw bad(text, `"${spec}" is not a valid variable: ${rule}`)
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
