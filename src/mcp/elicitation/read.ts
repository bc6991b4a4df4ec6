import { defined } from '../../util/defined.ts'
import { isRecord } from '../../util/record.ts'
import { type Format, formats } from '../schema/formats.ts'
import type { FormValue } from '../types/elicitation.ts'
import { type Field, type FieldShape, faultOf, type Option, type Options } from './field.ts'

type Words = Readonly<Record<string, unknown>>

/**
 * Reads the schema of one property as a field of a form. Throws an Error that says what a form cannot
 * ask for, in words that follow the name of the property.
 *
 * Other spellings of what a form knows are understood: `const` for a choice of one, `anyOf` for
 * `oneOf`, a choice without its type, and bounds that are not allowed themselves.
 */
export function readField(schema: unknown): Field {
  if (!isRecord(schema)) throw new Error('has no schema')
  const { title, description } = schema
  const shape = shapeOf(schema)
  const field: Field = {
    ...shape,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  }
  if (schema.default === undefined) return field
  const fault = faultOf(shape, schema.default)
  if (fault !== undefined) throw new Error(`has a default that does not fit: ${fault}`)
  // The check: what fits a field is a string, a number, a boolean or a list of strings.
  return { ...field, default: schema.default as FormValue }
}

function shapeOf(schema: Words): FieldShape {
  const options = optionsOf(schema)
  if (options !== undefined) {
    allowOnly(schema, ['enum', 'enumNames', 'const', 'oneOf', 'anyOf'])
    return { kind: 'one', ...options }
  }
  switch (schema.type) {
    case 'string':
      return textOf(schema)
    case 'number':
    case 'integer':
      return numberOf(schema)
    case 'boolean':
      allowOnly(schema, [])
      return { kind: 'boolean' }
    case 'array':
      return manyOf(schema)
    default:
      throw new Error(
        'must be a string, a number, an integer, a boolean, a choice of strings or a list of such choices',
      )
  }
}

function textOf(schema: Words): FieldShape {
  const { format } = schema
  if (format === undefined) {
    allowOnly(schema, ['minLength', 'maxLength'])
    return { kind: 'text', ...numbers(schema, ['minLength', 'maxLength']) }
  }
  if (!isFormat(format)) {
    throw new Error(`has the format ${JSON.stringify(format)}: a form knows ${known.join(', ')}`)
  }
  // Libraries say in a pattern what they say in the format besides.
  allowOnly(schema, ['minLength', 'maxLength', 'format', 'pattern'])
  return { kind: 'text', ...numbers(schema, ['minLength', 'maxLength']), format }
}

const known = [...formats.keys()]

function isFormat(format: unknown): format is Format {
  return typeof format === 'string' && formats.has(format)
}

function numberOf(schema: Words): FieldShape {
  // The format of a number is a remark.
  allowOnly(schema, ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'format'])
  const isInteger = schema.type === 'integer'
  const bounds = numbers(schema, ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])
  const { exclusiveMinimum: above, exclusiveMaximum: below } = bounds
  // What is shown are the nearest bounds that are allowed themselves: among integers, the next ones.
  const gap = isInteger ? 1 : 0
  const minimum = Math.max(bounds.minimum ?? -Infinity, (above ?? -Infinity) + gap)
  const maximum = Math.min(bounds.maximum ?? Infinity, (below ?? Infinity) - gap)
  return {
    kind: 'number',
    isInteger,
    ...defined({ above, below }),
    ...(Number.isFinite(minimum) && { minimum }),
    ...(Number.isFinite(maximum) && { maximum }),
  }
}

function manyOf(schema: Words): FieldShape {
  allowOnly(schema, ['items', 'minItems', 'maxItems', 'uniqueItems'])
  const options = isRecord(schema.items) ? optionsOf(schema.items) : undefined
  if (options === undefined) throw new Error('is a list of something else than choices of strings')
  return { kind: 'many', ...options, ...numbers(schema, ['minItems', 'maxItems']) }
}

/** The values to choose from, however they are spelt; undefined where there is no choice. */
function optionsOf(schema: Words): Options | undefined {
  const { type, enumNames } = schema
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  const alternatives = schema.oneOf ?? schema.anyOf
  if (values === undefined && alternatives === undefined) return undefined
  const options =
    values === undefined ? titledOptions(alternatives) : namedOptions(values, enumNames)
  if (options.length === 0 || (type !== undefined && type !== 'string')) throw new Error(noChoice)
  if (options.every(({ title }) => title === undefined)) return { options, spelling: 'plain' }
  return { options, spelling: values === undefined ? 'titled' : 'named' }
}

const noChoice = 'is a choice of something else than strings'

function namedOptions(values: unknown, names: unknown): Option[] {
  const titles: readonly unknown[] = Array.isArray(names) ? names : []
  const all: readonly unknown[] = Array.isArray(values) ? values : []
  return all.map((value, index) => optionOf(value, titles[index]))
}

function titledOptions(alternatives: unknown): Option[] {
  const all: readonly unknown[] = Array.isArray(alternatives) ? alternatives : []
  return all.map(one => optionOf(isRecord(one) ? one.const : undefined, isRecord(one) && one.title))
}

function optionOf(value: unknown, title: unknown): Option {
  if (typeof value !== 'string') throw new Error(noChoice)
  return typeof title === 'string' ? { value, title } : { value }
}

/**
 * Refuses keywords that a form does not have: nobody would be asked for what they ask for. Keywords
 * that ask for nothing are left out in silence.
 */
export function allowOnly(schema: Words, allowed: readonly string[]): void {
  const other = Object.keys(schema).find(key => asking.has(key) && !allowed.includes(key))
  if (other === undefined) return
  throw new Error(`has "${other}", which a form cannot ask for: leave it out and check the answer`)
}

/** The keywords of JSON Schema that a value can break. */
const asking: ReadonlySet<string> = new Set(
  [
    '$ref $dynamicRef allOf anyOf oneOf not if then else enum const',
    'minLength maxLength pattern format contentEncoding contentMediaType contentSchema',
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
    'items prefixItems additionalItems unevaluatedItems contains minContains maxContains',
    'minItems maxItems uniqueItems',
    'properties patternProperties additionalProperties unevaluatedProperties propertyNames',
    'required minProperties maxProperties dependentRequired dependentSchemas dependencies',
  ].flatMap(keywords => keywords.split(' ')),
)

function numbers<const K extends string>(
  schema: Words,
  keywords: readonly K[],
): { readonly [key in K]?: number } {
  const found = keywords.filter(keyword => schema[keyword] !== undefined)
  const wrong = found.find(keyword => typeof schema[keyword] !== 'number')
  if (wrong !== undefined) throw new Error(`has something else than a number for "${wrong}"`)
  // The check: the keys are some of K, and all values are numbers.
  return Object.fromEntries(found.map(key => [key, schema[key]])) as { [key in K]?: number }
}
