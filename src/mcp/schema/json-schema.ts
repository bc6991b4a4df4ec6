import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { compilePattern } from '../regex/pattern.ts'
import type { JsonSchema } from '../types/base.ts'
import { sizeOf } from './size.ts'
import { pointer, type SchemaLocation, type WalkOptions, walkSchema } from './walk.ts'

/** The supported dialects. */
export type Dialect = '2020-12' | 'draft-07'

const dialects: ReadonlyMap<string, Dialect> = new Map([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ['https://json-schema.org/draft-07/schema', 'draft-07'],
])

/** Returns the dialect of a schema; 2020-12 by default. Throws for an unsupported dialect. */
export function dialectOf(schema: JsonSchema): Dialect {
  const { $schema } = schema
  if ($schema === undefined) return '2020-12'
  const dialect = typeof $schema === 'string' && dialects.get($schema.replace(/#$/, ''))
  if (dialect) return dialect
  throw new Error(
    `the dialect ${JSON.stringify($schema)} is not supported; use JSON Schema 2020-12 or draft-07`,
  )
}

/**
 * Returns a deep-frozen copy of a schema, with its members in the same order. Throws if it is not made
 * of JSON, or longer than `maxLength` as text.
 */
export function copyOf(schema: object, maxLength = Number.POSITIVE_INFINITY): JsonSchema {
  let text: string
  try {
    text = JSON.stringify(schema) ?? 'null'
  } catch (cause) {
    throw new Error('the schema is not made of JSON', { cause })
  }
  if (text.length > maxLength) throw new Error(`the schema is longer than ${maxLength} characters`)
  const copy: unknown = JSON.parse(text, (_, value) => Object.freeze(value))
  if (!isRecord(copy)) throw new Error('the schema is not an object')
  return copy
}

export interface SchemaCheckOptions extends WalkOptions {
  /** Whether patterns are checked; not needed for schemas that a library validates. */
  readonly patterns?: boolean
  /** The maximum size, in proportion to the time that compiling takes; unlimited by default. */
  readonly maxSize?: number
}

/**
 * Checks that a schema can be used: a supported dialect, a bounded size, known types, patterns that
 * terminate, and every `$ref` resolving to a part of the schema. Nothing is ever fetched: an external
 * reference is rejected.
 *
 * This is a quick check of keywords, without compiling. Throws an Error that says what is wrong.
 */
export function checkSchema(schema: JsonSchema, options: SchemaCheckOptions = {}): void {
  const dialect = dialectOf(schema)
  const references = new References()
  const patterns = options.patterns === false ? undefined : new Patterns()
  const { maxSize = Number.POSITIVE_INFINITY } = options
  let size = 0
  walkSchema(
    schema,
    place => {
      size += sizeOf(place)
      if (size > maxSize)
        throw new Error(
          `the schema is too large: its keywords and names count more than ${maxSize}`,
        )
      checkWords(place, dialect, patterns)
      references.visit(place)
    },
    options,
  )
  references.check()
}

const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

function checkWords(
  { schema, path }: SchemaLocation,
  dialect: Dialect,
  patterns: Patterns | undefined,
): void {
  const refuse = (keyword: string, why: string) => {
    throw new Error(`${pointer([...path, keyword])} ${why}`)
  }
  const { type, required, pattern, patternProperties } = schema
  if (type !== undefined && !isTypes(type)) refuse('type', 'is not a JSON type')
  if (required !== undefined && !isNames(required)) refuse('required', 'is not an array of strings')
  if (schema.enum !== undefined && !Array.isArray(schema.enum)) refuse('enum', 'is not an array')
  // The check: dialectOf throws for a `$schema` that is not a known string.
  if (
    path.length > 0 &&
    schema.$schema !== undefined &&
    dialectOf(schema as JsonSchema) !== dialect
  )
    refuse('$schema', 'must not change the dialect inside a schema')
  const sources = isRecord(patternProperties) ? Object.keys(patternProperties) : []
  if (pattern !== undefined) sources.push(String(pattern))
  for (const source of sources) {
    try {
      patterns?.add(source)
    } catch (error) {
      const why = errorMessage(error)
      refuse(source === pattern ? 'pattern' : 'patternProperties', `cannot be used: ${why}`)
    }
  }
}

/** The different regular expressions of a schema, which share the limit of their size. */
class Patterns {
  readonly #known = new Set<string>()
  #size = 0

  add(source: string): void {
    if (this.#known.has(source)) return
    this.#known.add(source)
    const { default: most } = limits.schemaPatternSize
    this.#size += compilePattern(source, most - this.#size).size
  }
}

function isTypes(type: unknown): boolean {
  const names = Array.isArray(type) ? type : [type]
  return names.length > 0 && names.every(name => types.includes(name))
}

function isNames(names: unknown): boolean {
  return Array.isArray(names) && names.every(name => typeof name === 'string')
}

/** Resolves the references of a schema against the URIs that its `$id`s give to its parts. */
class References {
  /** The parts by URI. */
  readonly #parts = new Map<string, unknown>()
  readonly #visited = new Set<unknown>([true, false])
  /** The URIs of anchors. */
  readonly #anchors = new Set<string>()
  readonly #wanted: {
    readonly reference: unknown
    readonly base: string
    readonly path: readonly string[]
  }[] = []
  /** The base URIs of the parts that enclose the current schema, with the path to each. */
  readonly #bases: { readonly path: readonly string[]; readonly base: string }[] = []

  visit({ schema, path }: SchemaLocation): void {
    this.#visited.add(schema)
    while (this.#bases.at(-1)?.path.some((key, index) => key !== path[index])) this.#bases.pop()
    const outer = this.#bases.at(-1)?.base ?? 'schema:/'
    const isAnchor = typeof schema.$id === 'string' && schema.$id.startsWith('#')
    const base = isAnchor ? outer : withoutFragment(resolve(schema.$id, outer) ?? outer)
    if (path.length === 0 || base !== outer) {
      this.#parts.set(base, schema)
      this.#bases.push({ path, base })
    }
    // In draft-07, an anchor is an $id with a fragment.
    if (isAnchor) this.#anchors.add(base + schema.$id)
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      if (typeof schema[keyword] === 'string') this.#anchors.add(`${base}#${schema[keyword]}`)
    }
    for (const keyword of ['$ref', '$dynamicRef']) {
      if (schema[keyword] === undefined) continue
      this.#wanted.push({ reference: schema[keyword], base, path: [...path, keyword] })
    }
  }

  check(): void {
    for (const { reference, base, path } of this.#wanted) {
      const address = resolve(reference, base)
      const part = address === undefined ? undefined : this.#parts.get(withoutFragment(address))
      if (address === undefined || part === undefined) {
        throw new Error(
          `${pointer(path)} refers to another document, which is never fetched: ${reference}`,
        )
      }
      if (!this.#has(address, part))
        throw new Error(`${pointer(path)} does not resolve: ${reference}`)
    }
  }

  #has(address: string, part: unknown): boolean {
    const fragment = address.slice(withoutFragment(address).length + 1)
    if (fragment === '') return true
    if (!fragment.startsWith('/')) return this.#anchors.has(address)
    // Only schemas are visited; a reference to anything else is invalid.
    return this.#visited.has(follow(part, fragment))
  }
}

function resolve(reference: unknown, base: string): string | undefined {
  if (typeof reference !== 'string') return undefined
  try {
    return new URL(reference, base).href
  } catch {
    return undefined
  }
}

function withoutFragment(address: string): string {
  const hash = address.indexOf('#')
  return hash === -1 ? address : address.slice(0, hash)
}

/** Returns the value that a JSON pointer in a URI fragment refers to. */
function follow(root: unknown, fragment: string): unknown {
  let at = root
  for (const token of fragment.split('/').slice(1)) {
    let key: string
    try {
      key = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
    } catch {
      return undefined
    }
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    // The check: at has this key of its own.
    at = (at as Record<string, unknown>)[key]
  }
  return at
}

/**
 * Whether a schema allows only objects, as far as its keywords show: by its type, by all of its
 * alternatives, or by the schema it refers to.
 */
export function isObjectSchema(root: JsonSchema): boolean {
  // Each schema is evaluated once, because alternatives may refer to the same one again and again.
  const known = new Map<unknown, boolean>()
  const isObject = (schema: unknown): boolean => {
    if (!isRecord(schema)) return false
    const answered = known.get(schema)
    if (answered !== undefined) return answered
    known.set(schema, false)
    const found = isObjectByWords(schema)
    known.set(schema, found)
    return found
  }
  const isObjectByWords = ({ type, anyOf, oneOf, allOf, $ref }: Record<string, unknown>) => {
    if (type !== undefined)
      return type === 'object' || (Array.isArray(type) && `${type}` === 'object')
    if ([anyOf, oneOf].some(list => isList(list) && list.every(isObject))) return true
    if (isList(allOf) && allOf.some(isObject)) return true
    return (
      typeof $ref === 'string' && $ref.startsWith('#/') && isObject(follow(root, $ref.slice(1)))
    )
  }
  return isObject(root)
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0
}
