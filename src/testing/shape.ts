/** A JSON value other than an array or object. Integers beyond the safe range keep their digits. */
export type Scalar = string | number | bigint | boolean | null

/**
 * A JSON value, or a pattern for one.
 *
 * As text it is JSON with two placeholders. An ellipsis stands for any value; at the end of an object
 * or array, for any further members or elements; within a string, for any characters. A string of a
 * dollar sign and a word, such as `"$task"`, is a name: it is bound to the first value at its position.
 * Written with escapes (`\u2026`, `\u0024`) neither sign is special.
 */
export type Shape =
  | { readonly kind: 'anything' }
  | {
      readonly kind: 'name'
      /** The name, without the dollar sign. */
      readonly name: string
    }
  | {
      readonly kind: 'gaps'
      /** The parts of the string before, between and after the gaps. */
      readonly parts: readonly string[]
    }
  | {
      readonly kind: 'scalar'
      /** The value. */
      readonly value: Scalar
    }
  | ArrayShape
  | ObjectShape

/** A pattern for an array. */
export interface ArrayShape {
  readonly kind: 'array'
  /** The elements. */
  readonly items: readonly Shape[]
  /** Whether more elements may follow. */
  readonly isOpen: boolean
}

/** A pattern for an object. */
export interface ObjectShape {
  readonly kind: 'object'
  /** The members, by name. */
  readonly members: ReadonlyMap<string, Shape>
  /** Whether more members may follow. */
  readonly isOpen: boolean
}

/** Creates the shape of a string, number, boolean or null. */
export function scalar(value: Scalar): Shape {
  return { kind: 'scalar', value }
}

/** Formats a shape, without spaces. A shape without placeholders gives JSON. */
export function printShape(shape: Shape): string {
  switch (shape.kind) {
    case 'anything':
      return ELLIPSIS
    case 'name':
      return `"$${shape.name}"`
    case 'gaps':
      return `"${shape.parts.map(part => quoted(part).slice(1, -1)).join(ELLIPSIS)}"`
    case 'scalar':
      return typeof shape.value === 'string' ? quoted(shape.value) : String(shape.value)
    case 'array':
      return `[${list(shape.items.map(printShape), shape.isOpen)}]`
    case 'object':
      return `{${list(Array.from(shape.members, printMember), shape.isOpen)}}`
  }
}

/** The placeholder for anything. */
export const ELLIPSIS = '…'

/** Matches a string that is a name. */
export const NAME = /^\$([a-zA-Z]\w*)$/

function printMember([name, shape]: readonly [string, Shape]): string {
  return `${JSON.stringify(name)}:${printShape(shape)}`
}

function list(texts: readonly string[], isOpen: boolean): string {
  return (isOpen ? [...texts, ELLIPSIS] : texts).join(',')
}

/** Escapes placeholders, so that parsing gives the same string. */
function quoted(text: string): string {
  const json = JSON.stringify(text).replaceAll(ELLIPSIS, '\\u2026')
  return NAME.test(text) ? json.replace('$', '\\u0024') : json
}
