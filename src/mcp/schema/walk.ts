import { isRecord } from '../../util/record.ts'
/** One schema inside another one, on its way down from the root. */
export interface Place {
  readonly schema: Record<string, unknown>
  /** The keys and indexes from the root to here, as a JSON pointer has them. */
  readonly path: readonly string[]
  /**
   * The names of the properties from the root to here, where the way leads through `properties`
   * alone; undefined elsewhere.
   */
  readonly properties: readonly string[] | undefined
}

/** What a walk through a schema puts up with. */
export interface WalkOptions {
  /** Schemas within schemas. */
  readonly maxDepth?: number
  /** Schemas in all. */
  readonly maxSchemas?: number
  /** Passes over what is no schema although it stands where one must, instead of throwing. */
  readonly isLenient?: boolean
}

// A schema can hardly be deeper and still fit into a message. The number leaves room for large ones.
const defaults = { maxDepth: 64, maxSchemas: 10_000, isLenient: false }

/**
 * Visits every schema in a JSON Schema, itself first: the keywords of 2020-12 and of draft-07.
 * Values that are no schemas (`enum`, `default`, unknown keywords) are not looked into, and `true` and
 * `false`, which are schemas, are not visited.
 *
 * Throws an Error where something is no schema although it stands where one must, and where there
 * is too much of it. What `visit` throws passes through.
 */
export function walkSchema(
  root: Record<string, unknown>,
  visit: (place: Place) => void,
  options: WalkOptions = {},
): void {
  const { maxDepth, maxSchemas, isLenient } = { ...defaults, ...options }
  let count = 0
  const enter = (place: Place, depth: number) => {
    if (depth > maxDepth) throw new Error(`the schema is more than ${maxDepth} schemas deep`)
    if (++count > maxSchemas)
      throw new Error(`the schema has more than ${maxSchemas} schemas in it`)
    visit(place)
    for (const [keys, schema] of children(place.schema)) {
      if (typeof schema === 'boolean') continue
      const path = [...place.path, ...keys]
      if (isRecord(schema)) enter({ schema, path, properties: names(place, keys) }, depth + 1)
      else if (!isLenient) throw new Error(`${pointer(path)} is no schema`)
    }
  }
  enter({ schema: root, path: [], properties: [] }, 1)
}

function names({ properties }: Place, [keyword, name]: readonly string[]): Place['properties'] {
  if (properties === undefined || keyword !== 'properties' || name === undefined) return undefined
  return [...properties, name]
}

/** What stands where schemas must stand in a schema, and the keys that lead there. */
function* children(
  schema: Record<string, unknown>,
): Generator<readonly [keys: readonly string[], value: unknown]> {
  for (const [keyword, value] of Object.entries(schema)) {
    const shape = applicators.get(keyword)
    if (shape === 'map' && isRecord(value)) {
      for (const [name, inner] of Object.entries(value)) {
        // In draft-07, a dependency may be a list of names.
        if (keyword !== 'dependencies' || !Array.isArray(inner)) yield [[keyword, name], inner]
      }
    } else if (shape?.endsWith('list') && Array.isArray(value)) {
      for (const [index, inner] of value.entries()) yield [[keyword, String(index)], inner]
    } else if (shape?.startsWith('one')) yield [[keyword], value]
    // In its place is nothing that could be looked into, and no schema either.
    else if (shape !== undefined) yield [[keyword], undefined]
  }
}

type Shape = 'one' | 'list' | 'one-or-list' | 'map'

/** Where the schemas are in the value of a keyword. */
const applicators: ReadonlyMap<string, Shape> = new Map(
  Object.entries({
    one: 'not if then else contains propertyNames additionalProperties unevaluatedProperties unevaluatedItems additionalItems contentSchema',
    list: 'allOf anyOf oneOf prefixItems',
    'one-or-list': 'items',
    map: 'properties patternProperties dependentSchemas dependencies $defs definitions',
  } satisfies Record<Shape, string>).flatMap(([shape, keywords]) =>
    // The check: the table has a row per shape and no other.
    keywords.split(' ').map(keyword => [keyword, shape as Shape] as const),
  ),
)

/** A place in a schema, as its errors name it: `#/properties/city`. */
export function pointer(path: readonly string[]): string {
  return ['#', ...path.map(key => key.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/')
}
