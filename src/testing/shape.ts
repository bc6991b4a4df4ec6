/** What JSON has besides arrays and objects. Integers beyond the safe range keep their digits. */
export type Scalar = string | number | bigint | boolean | null

/**
 * A JSON value, or what one has to look like.
 *
 * As text it is JSON with two more signs. An ellipsis stands for any value; at the end of an object
 * or array, for any further members or elements; within a string, for any characters. A string that
 * is a dollar sign and a word, such as `"$task"`, is a name: the first value met there is what the
 * name means from then on. Written with escapes (`\u2026`, `\u0024`) neither sign is special.
 */
export type Shape =
  | { readonly kind: 'anything' }
  | { readonly kind: 'name'; readonly name: string }
  /** A string with gaps: what stands before, between and after them. */
  | { readonly kind: 'gaps'; readonly parts: readonly string[] }
  | { readonly kind: 'scalar'; readonly value: Scalar }
  | ArrayShape
  | ObjectShape

export interface ArrayShape {
  readonly kind: 'array'
  readonly items: readonly Shape[]
  /** Whether more elements may follow. */
  readonly isOpen: boolean
}

export interface ObjectShape {
  readonly kind: 'object'
  readonly members: ReadonlyMap<string, Shape>
  /** Whether there may be more members. */
  readonly isOpen: boolean
}

/** The shape of a string, number, boolean or null: itself. */
export function scalar(value: Scalar): Shape {
  return { kind: 'scalar', value }
}

/** The text of a shape, without spaces. The text of one without special signs is JSON. */
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

/** What stands for anything. */
export const ELLIPSIS = '…'

/** A string that is read as a name. */
export const NAME = /^\$([a-zA-Z]\w*)$/

function printMember([name, shape]: readonly [string, Shape]): string {
  return `${JSON.stringify(name)}:${printShape(shape)}`
}

function list(texts: readonly string[], isOpen: boolean): string {
  return (isOpen ? [...texts, ELLIPSIS] : texts).join(',')
}

/** Escapes what would be special, so that reading it again gives the same string. */
function quoted(text: string): string {
  const json = JSON.stringify(text).replaceAll(ELLIPSIS, '\\u2026')
  return NAME.test(text) ? json.replace('$', '\\u0024') : json
}
