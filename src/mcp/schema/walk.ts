import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'

/** One schema inside a JSON Schema. */
export interface SchemaLocation {
  readonly schema: Record<string, unknown>
  /** The keys and indexes from the root to this schema, as in a JSON pointer. */
  readonly path: readonly string[]
  /**
   * The property names from the root to this schema, if the path leads through `properties` alone;
   * undefined otherwise.
   */
  readonly properties: readonly string[] | undefined
}

/** The limits of a walk. */
export interface WalkOptions {
  /** The maximum nesting of schemas. */
  readonly maxDepth?: number
  /** The maximum number of schemas. */
  readonly maxSchemas?: number
  /** Whether invalid schemas are skipped instead of throwing. */
  readonly isLenient?: boolean
}

// The total allows for large schemas of libraries.
const defaults = { maxDepth: limits.schemaDepth.default, maxSchemas: 10_000, isLenient: false }

/**
 * Visits every schema in a JSON Schema, the root first, by the keywords of 2020-12 and draft-07. Values
 * that are not schemas (`enum`, `default`, unknown keywords) are skipped, and the schemas `true` and
 * `false` are not visited.
 *
 * Throws an Error for a value that must be a schema and is not, and beyond the limits. Exceptions of
 * `visit` propagate.
 */
export function walkSchema(
  root: Record<string, unknown>,
  visit: (place: SchemaLocation) => void,
  options: WalkOptions = {},
): void {
  const { maxDepth, maxSchemas, isLenient } = { ...defaults, ...options }
  let count = 0
  const enter = (place: SchemaLocation, depth: number) => {
    if (depth > maxDepth) throw new Error(`the schema is nested more than ${maxDepth} levels deep`)
    if (++count > maxSchemas) throw new Error(`the schema contains more than ${maxSchemas} schemas`)
    visit(place)
    for (const [keys, schema] of childrenOf(place.schema)) {
      if (typeof schema === 'boolean') continue
      const path = [...place.path, ...keys]
      if (isRecord(schema)) enter({ schema, path, properties: names(place, keys) }, depth + 1)
      else if (!isLenient) throw new Error(`${pointer(path)} is not a schema`)
    }
  }
  enter({ schema: root, path: [], properties: [] }, 1)
}

function names(
  { properties }: SchemaLocation,
  [keyword, name]: readonly string[],
): SchemaLocation['properties'] {
  if (properties === undefined || keyword !== 'properties' || name === undefined) return undefined
  return [...properties, name]
}

/** Yields the values that must be schemas, with the keys that lead to them. */
export function* childrenOf(
  schema: Record<string, unknown>,
): Generator<readonly [keys: readonly string[], value: unknown]> {
  for (const [keyword, value] of Object.entries(schema)) {
    const shape = applicators.get(keyword)
    if (shape === 'map' && isRecord(value)) {
      for (const [name, inner] of Object.entries(value)) {
        // In draft-07, a dependency may be an array of names.
        if (keyword !== 'dependencies' || !Array.isArray(inner)) yield [[keyword, name], inner]
      }
    } else if (shape?.endsWith('list') && Array.isArray(value)) {
      for (const [index, inner] of value.entries()) yield [[keyword, String(index)], inner]
    } else if (shape?.startsWith('one')) yield [[keyword], value]
    // Neither a schema nor a container of schemas.
    else if (shape !== undefined) yield [[keyword], undefined]
  }
}

/** Whether the value of a keyword is a schema, or contains schemas. */
export function hasSchemas(keyword: string): boolean {
  return applicators.has(keyword)
}

type Shape = 'one' | 'list' | 'one-or-list' | 'map'

/** The position of schemas in the value of a keyword. */
const applicators: ReadonlyMap<string, Shape> = new Map(
  Object.entries({
    one: 'not if then else contains propertyNames additionalProperties unevaluatedProperties unevaluatedItems additionalItems contentSchema',
    list: 'allOf anyOf oneOf prefixItems',
    'one-or-list': 'items',
    map: 'properties patternProperties dependentSchemas dependencies $defs definitions',
  } satisfies Record<Shape, string>).flatMap(([shape, keywords]) =>
    // The check: the table has one row per shape.
    keywords.split(' ').map(keyword => [keyword, shape as Shape] as const),
  ),
)

/** Formats a path as a JSON pointer, for error messages: `#/properties/city`. */
export function pointer(path: readonly string[]): string {
  return ['#', ...path.map(key => key.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/')
}
