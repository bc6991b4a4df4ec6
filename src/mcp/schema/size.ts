import { isRecord } from '../../util/objects.ts'
import { namesIn } from './validator/cost.ts'
import { hasSchemas, type SchemaLocation } from './walk.ts'

/**
 * Returns the size of one schema without those inside it, in proportion to the time that compiling it
 * takes. The generated code repeats the path to a schema for each of its keywords.
 */
export function sizeOf({ schema, path }: SchemaLocation): number {
  const pathLength = path.reduce((sum, key) => sum + key.length + 1, 0)
  const keywords = Object.keys(schema).filter(keyword => !isIdle(keyword)).length
  const values = Array.isArray(schema.enum) ? schema.enum.length / valuesPerUnit : 0
  const { patternProperties } = schema
  const patterns = isRecord(patternProperties) ? Object.keys(patternProperties).length : 0
  const references = ['$ref', '$dynamicRef'].filter(keyword => schema[keyword] !== undefined).length
  const size =
    keywords + namesIn(schema) + values + patterns * patternSize + references * referenceSize
  return schemaSize + size * (1 + pathLength / 256)
}

const schemaSize = 2
const patternSize = 3
const referenceSize = 2
const valuesPerUnit = 8

/** Whether a keyword has no effect on validation: it is an annotation, or unknown. */
export function isIdle(keyword: string): boolean {
  return !effective.has(keyword) && !hasSchemas(keyword)
}

/** The keywords of 2020-12 and draft-07 that validate, identify or refer, besides those with schemas. */
const effective = new Set(
  `$id $ref $anchor $dynamicRef $dynamicAnchor type enum const
  multipleOf maximum exclusiveMaximum minimum exclusiveMinimum
  maxLength minLength pattern format maxItems minItems uniqueItems maxContains minContains
  maxProperties minProperties required dependentRequired`.split(/\s+/),
)
