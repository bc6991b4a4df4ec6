import { ELLIPSIS, NAME, type Scalar, type Shape, scalar } from './shape.ts'

/** Parses a shape with placeholders. Throws a SyntaxError with the column. */
export function readShape(text: string): Shape {
  return read(text, true)
}

/** Parses JSON as a shape without placeholders. Throws a SyntaxError with the column. */
export function readJson(text: string): Shape {
  return read(text, false)
}

const space = /[ \t\r\n]*/y
// Control characters are rejected by the parser of the token.
const string = /"(?:[^"\\]|\\.)*"/sy
const number = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const word = /true|false|null/y

function read(text: string, hasSigns: boolean): Shape {
  let at = 0

  const fail = (wanted: string): never => {
    const found = at < text.length ? text.slice(at, at + 20) : 'the end'
    throw new SyntaxError(`${wanted} expected at column ${at + 1}, found ${found}`)
  }
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found === null) return undefined
    at += found[0].length
    return found
  }
  /** Consumes a sign and the space around it, if it is next. */
  const takeSign = (sign: string): boolean => {
    take(space)
    if (!text.startsWith(sign, at)) return false
    at += sign.length
    take(space)
    return true
  }
  const need = (sign: string): void => {
    if (!takeSign(sign)) fail(sign)
  }
  const quotedText = (): string => {
    const token = take(string)?.[0]
    return token === undefined ? fail('a string') : unquoted(token)
  }

  const value = (): Shape => {
    take(space)
    if (hasSigns && takeSign(ELLIPSIS)) return { kind: 'anything' }
    if (takeSign('{')) return object()
    if (takeSign('[')) return array()
    const token = take(string)?.[0]
    if (token !== undefined) return hasSigns ? stringShape(token) : scalar(unquoted(token))
    const literal = take(word)?.[0]
    if (literal !== undefined) return scalar(JSON.parse(literal) as boolean | null)
    const digits = take(number)
    return digits === undefined ? fail('a value') : scalar(numberOf(digits))
  }

  /** Parses elements up to the closing sign with `one`; returns whether an ellipsis ends the list. */
  const elements = (closing: string, one: () => void): boolean => {
    if (takeSign(closing)) return false
    do {
      if (hasSigns && takeSign(ELLIPSIS)) {
        need(closing)
        return true
      }
      one()
    } while (takeSign(','))
    need(closing)
    return false
  }

  const object = (): Shape => {
    const members = new Map<string, Shape>()
    const isOpen = elements('}', () => {
      const name = quotedText()
      if (members.has(name)) fail(`a name other than the duplicate "${name}"`)
      need(':')
      members.set(name, value())
    })
    return { kind: 'object', members, isOpen }
  }

  const array = (): Shape => {
    const items: Shape[] = []
    const isOpen = elements(']', () => void items.push(value()))
    return { kind: 'array', items, isOpen }
  }

  const shape = value()
  take(space)
  return at === text.length ? shape : fail('the end')
}

function stringShape(token: string): Shape {
  const inside = token.slice(1, -1)
  const name = NAME.exec(inside)?.[1]
  if (name !== undefined) return { kind: 'name', name }
  if (!inside.includes(ELLIPSIS)) return scalar(unquoted(token))
  return { kind: 'gaps', parts: inside.split(ELLIPSIS).map(part => unquoted(`"${part}"`)) }
}

/** Parses a JSON string. Throws a SyntaxError for invalid escapes. */
function unquoted(token: string): string {
  // The check: a token in quotes is a string.
  return JSON.parse(token) as string
}

function numberOf([digits, fraction, exponent]: RegExpExecArray): Scalar {
  const value = Number(digits)
  const isInteger = fraction === undefined && exponent === undefined
  return isInteger && !Number.isSafeInteger(value) ? BigInt(digits) : value
}
