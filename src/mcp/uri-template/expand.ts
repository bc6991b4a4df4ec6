import {
  type Expression,
  encodeReserved,
  type Operator,
  type TemplatePart,
  type Variable,
} from './parse.ts'

/** A single value of a variable. */
export type TemplateScalar = string | number | boolean

/** The value of a variable. Null, undefined, empty arrays and empty objects leave it undefined. */
export type TemplateValue =
  | TemplateScalar
  | null
  | undefined
  | readonly (TemplateScalar | null | undefined)[]
  | { readonly [name: string]: TemplateScalar | null | undefined }

/**
 * Expands a template with values, as in RFC 6570, section 3.
 *
 * Throws a TypeError for a value that the expression cannot take, and if a value would become "." or
 * ".." between two slashes: resolving such a URI leaves the path that the template names.
 */
export function expandParts(
  parts: readonly TemplatePart[],
  values: Readonly<Record<string, TemplateValue>>,
): string {
  let uri = ''
  const expanded: Range[] = []
  for (const part of parts) {
    const start = uri.length
    uri += typeof part === 'string' ? part : expandExpression(part, values)
    if (typeof part !== 'string' && uri.length > start) expanded.push([start, uri.length])
  }
  refuseDotSegments(uri, expanded)
  return uri
}

type Range = readonly [start: number, end: number]

interface Style {
  /** The string before the first value, and the one between two values. */
  readonly first: string
  readonly separator: string
  /** Whether the variable's name is written, and what replaces "=" if the value is empty. */
  readonly named: boolean
  readonly ifEmpty: string
  readonly encode: (text: string) => string
}

const plain = { named: false, ifEmpty: '', encode: encodeUnreserved }

/** RFC 6570, appendix A. */
const styles: Readonly<Record<Operator, Style>> = {
  '': { ...plain, first: '', separator: ',' },
  '+': { ...plain, first: '', separator: ',', encode: encodeReserved },
  '#': { ...plain, first: '#', separator: ',', encode: encodeReserved },
  '.': { ...plain, first: '.', separator: '.' },
  '/': { ...plain, first: '/', separator: '/' },
  ';': { ...plain, first: ';', separator: ';', named: true },
  '?': { ...plain, first: '?', separator: '&', named: true, ifEmpty: '=' },
  '&': { ...plain, first: '&', separator: '&', named: true, ifEmpty: '=' },
}

function encodeUnreserved(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function expandExpression(
  { operator, variables }: Expression,
  values: Readonly<Record<string, TemplateValue>>,
): string {
  const style = styles[operator]
  const pieces = variables.flatMap(variable => {
    // Own members only, because a variable may be named "constructor".
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined
    return piecesOf(variable, value, style)
  })
  return pieces.length === 0 ? '' : style.first + pieces.join(style.separator)
}

function piecesOf(variable: Variable, value: TemplateValue, style: Style): string[] {
  if (value === undefined || value === null) return []
  const { name, explode, prefix } = variable
  const encode = (scalar: TemplateScalar): string => encoded(String(scalar), name, style)
  const named = (text: string): string =>
    style.named ? name + (text === '' ? style.ifEmpty : `=${text}`) : text
  if (typeof value !== 'object') return [named(encode(cut(String(value), prefix)))]
  if (prefix !== undefined) throw new TypeError(`"${name}:${prefix}" needs a single value`)
  if (isList(value)) {
    const items = value.filter(isDefined).map(encode)
    if (explode) return items.map(named)
    return items.length === 0 ? [] : [named(items.join(','))]
  }
  const entries = Object.entries(value).flatMap(([key, member]) =>
    isDefined(member) ? [[encode(key), encode(member)] as const] : [],
  )
  if (explode) {
    return entries.map(
      ([key, text]) => key + (text === '' && style.named ? style.ifEmpty : `=${text}`),
    )
  }
  return entries.length === 0 ? [] : [named(entries.flat().join(','))]
}

function encoded(text: string, name: string, style: Style): string {
  if (!text.isWellFormed()) throw new TypeError(`"${name}" contains a lone surrogate`)
  return style.encode(text)
}

/** Returns the first characters of a string. Surrogate pairs count as one and are never split. */
export function cut(text: string, characters: number | undefined): string {
  if (characters === undefined || text.length <= characters) return text
  let end = 0
  for (let left = characters; left > 0 && end < text.length; left--) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  }
  return text.slice(0, end)
}

function refuseDotSegments(uri: string, expanded: readonly Range[]): void {
  const path = uri.slice(0, uri.search(/[?#]|$/))
  let start = 0
  for (const segment of path.split('/')) {
    const end = start + segment.length
    // Encoding the dots would not help, because resolvers treat "%2e" as a dot.
    if (/^(?:\.|%2e){1,2}$/i.test(segment) && expanded.some(([a, b]) => a < end && b > start)) {
      throw new TypeError(`a value would make "${segment}" a segment of the path`)
    }
    start = end + 1
  }
}

function isList(value: object): value is readonly (TemplateScalar | null | undefined)[] {
  return Array.isArray(value)
}

function isDefined(value: TemplateScalar | null | undefined): value is TemplateScalar {
  return value !== undefined && value !== null
}
