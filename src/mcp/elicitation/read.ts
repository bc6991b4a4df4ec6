import { defined, isRecord } from '../../util/objects.ts'
import { type Format, formats } from '../schema/validator/formats.ts'
import type { FormValue } from '../types/elicitation.ts'
import { type FormField, type FormFieldShape, faultOf, type Option, type Options } from './field.ts'

type Words = Readonly<Record<string, unknown>>

/**
 * Reads the schema of one property as a field of a form. Throws an Error with the reason, as the rest
 * of a sentence about the property, if a form cannot represent it.
 *
 * Equivalent spellings are accepted: `const` for a choice of one, `anyOf` for `oneOf`, a choice without
 * `type`, and exclusive bounds.
 */
export function readFormField(schema: unknown): FormField {
  if (!isRecord(schema)) throw new Error('has no schema')
  const { title, description } = schema
  const shape = shapeOf(schema)
  const field: FormField = {
    ...shape,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  }
  if (schema.default === undefined) return field
  const fault = faultOf(shape, schema.default)
  if (fault !== undefined) throw new Error(`has an invalid default: ${fault}`)
  // The check: a valid value of a field is a string, a number, a boolean or an array of strings.
  return { ...field, default: schema.default as FormValue }
}

function shapeOf(schema: Words): FormFieldShape {
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
        'must be a string, a number, an integer, a boolean, a choice of strings or an array of such choices',
      )
  }
}

function textOf(schema: Words): FormFieldShape {
  const { format } = schema
  if (format === undefined) {
    allowOnly(schema, ['minLength', 'maxLength'])
    return { kind: 'text', ...numbers(schema, ['minLength', 'maxLength']) }
  }
  if (!isFormat(format)) {
    throw new Error(`has the format ${JSON.stringify(format)}; forms support ${known.join(', ')}`)
  }
  // Libraries write a pattern in addition to the format.
  allowOnly(schema, ['minLength', 'maxLength', 'format', 'pattern'])
  return { kind: 'text', ...numbers(schema, ['minLength', 'maxLength']), format }
}

const known = [...formats.keys()]

function isFormat(format: unknown): format is Format {
  return typeof format === 'string' && formats.has(format)
}

function numberOf(schema: Words): FormFieldShape {
  // The format of a number is only an annotation.
  allowOnly(schema, ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'format'])
  const isInteger = schema.type === 'integer'
  const bounds = numbers(schema, ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])
  const { exclusiveMinimum: above, exclusiveMaximum: below } = bounds
  // The form shows the nearest inclusive bounds: for integers, the next integer.
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

function manyOf(schema: Words): FormFieldShape {
  allowOnly(schema, ['items', 'minItems', 'maxItems', 'uniqueItems'])
  const options = isRecord(schema.items) ? optionsOf(schema.items) : undefined
  if (options === undefined) throw new Error('must be an array of choices of strings')
  return { kind: 'many', ...options, ...numbers(schema, ['minItems', 'maxItems']) }
}

/** Returns the options of a choice, in any spelling; undefined if the schema is not a choice. */
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

const noChoice = 'must be a choice of strings'

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
 * Throws for a constraint that forms do not have, because the user would not see it. Other keywords are
 * ignored.
 */
export function allowOnly(schema: Words, allowed: readonly string[]): void {
  const other = Object.keys(schema).find(key => asking.has(key) && !allowed.includes(key))
  if (other === undefined) return
  throw new Error(`has "${other}", which forms do not support: remove it and check the response`)
}

/** The keywords of JSON Schema that constrain values. */
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
  if (wrong !== undefined) throw new Error(`must have a number for "${wrong}"`)
  // The check: the keys are some of K, and all values are numbers.
  return Object.fromEntries(found.map(key => [key, schema[key]])) as { [key in K]?: number }
}
