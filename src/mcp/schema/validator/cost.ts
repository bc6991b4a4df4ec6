import { isRecord } from '../../../util/objects.ts'
import { childrenOf } from '../walk.ts'

/** The work of applying one schema to a value, apart from what its keywords charge themselves. */
export interface Cost {
  readonly base: number
  /** For each item of an array. */
  readonly perItem: number
  /** For each member of an object. */
  readonly perKey: number
}

/** What the cost of a schema depends on besides its own keywords. */
export interface CostContext {
  /** Whether any schema uses `unevaluatedProperties`, so that evaluated names are collected. */
  readonly isTracking: boolean
  /** The number of names in all `properties`. */
  readonly names: number
}

const perItemKeywords = new Set(['items', 'contains', 'additionalItems', 'unevaluatedItems'])
const perKeyKeywords = new Set([
  'additionalProperties',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
])
const idleKeywords = new Set(['$defs', 'definitions', 'contentSchema'])
// Calling a function, reading the name of a member, and looking a name up.
const referenceWork = 16
const keyWork = 8
const nameWork = 4
/** Objects with more members are hash tables, in which reading names takes several times as long. */
const fewKeys = 64
const manyKeysFactor = 6

/**
 * Returns the cost of a schema. It includes the scalar keywords of the schemas directly in it;
 * undefined if there are none, because then the schema around it has counted its keywords.
 */
export function costOf(schema: Record<string, unknown>, context: CostContext): Cost | undefined {
  let base = 0
  let perItem = 0
  let perKey = 0
  for (const [[keyword = '', index], child] of childrenOf(schema)) {
    const work = isRecord(child) ? 1 + Object.keys(child).length : 1
    if (idleKeywords.has(keyword)) continue
    if (perItemKeywords.has(keyword) && index === undefined) perItem += work
    else if (perKeyKeywords.has(keyword)) perKey += keyWork + work
    else base += work
  }
  for (const keyword of ['$ref', '$dynamicRef']) {
    if (schema[keyword] !== undefined) base += referenceWork
  }
  for (const keyword of ['minProperties', 'maxProperties']) {
    if (schema[keyword] !== undefined) perKey += keyWork
  }
  base += namesIn(schema) * nameWork
  if (base + perItem + perKey === 0) return undefined
  if (schema.unevaluatedProperties !== undefined) perKey += context.names / 8
  if (context.isTracking) perKey += keyWork
  return { base: base + Object.keys(schema).length, perItem, perKey }
}

/** Returns how many names the keywords of a schema list that are looked up in each object. */
export function namesIn(schema: Record<string, unknown>): number {
  const { required, properties, dependentRequired, dependencies } = schema
  let count = Array.isArray(required) ? required.length : 0
  if (isRecord(properties)) count += Object.keys(properties).length
  for (const lists of [dependentRequired, dependencies]) {
    if (!isRecord(lists)) continue
    for (const names of Object.values(lists)) count += 1 + (Array.isArray(names) ? names.length : 0)
  }
  return count
}

/** Returns the work of applying a schema with this cost to a value. */
export function workOf(value: unknown, { base, perItem, perKey }: Cost): number {
  if (typeof value !== 'object' || value === null) return base
  if (Array.isArray(value)) return base + perItem * value.length
  if (perKey === 0) return base
  let work = 0
  let count = 0
  for (const key in value) {
    count++
    // Long names are copied and compared.
    work += perKey + (key.length >>> 1)
  }
  return base + (count > fewKeys ? work * manyKeysFactor : work)
}
