import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import type { JsonSchema } from '../types/base.ts'
import type { StandardSchema } from './standard-schema.ts'

/** Which values a schema describes: those it accepts or those it returns. Transforms make them differ. */
export type Side = 'input' | 'output'

const target = 'draft-2020-12'

/**
 * Converts the schema of a library into JSON Schema: by Standard JSON Schema if the library implements
 * it, else by the library's own method. Throws an Error with the remedy if neither exists; it never
 * returns an empty schema instead.
 */
export function toJsonSchema(schema: StandardSchema, side: Side): JsonSchema {
  const { vendor } = schema['~standard']
  const convert = converterOf(schema, side)
  if (convert === undefined) throw new Error(remedy(schema, vendor))
  let converted: unknown
  try {
    converted = convert()
  } catch (cause) {
    const why = errorMessage(cause)
    throw new Error(`${vendor} cannot convert this schema into JSON Schema: ${why}`, { cause })
  }
  if (!isRecord(converted))
    throw new Error(`${vendor} does not convert this schema into a JSON Schema`)
  // Removed, because the library adds it and the dialect is the default one.
  const { $schema, ...rest } = converted
  return /\/draft\/2020-12\//.test(String($schema)) ? rest : converted
}

/**
 * Attaches the JSON Schema that a schema is published with, for libraries that cannot convert:
 * `withJsonSchema(schema, toJsonSchema(schema))`. The schema still validates the values.
 */
export function withJsonSchema<S extends StandardSchema>(
  schema: S,
  jsonSchema: JsonSchema,
): StandardSchema<
  NonNullable<S['~standard']['types']>['input'],
  NonNullable<S['~standard']['types']>['output']
> {
  const standard = schema['~standard']
  return {
    '~standard': {
      version: 1,
      vendor: standard.vendor,
      // The check: the same schema validates, so that its types hold.
      validate: value => standard.validate(value) as never,
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
    },
  }
}

function converterOf(schema: StandardSchema, side: Side): (() => unknown) | undefined {
  const standard: unknown = schema['~standard'].jsonSchema
  const bySide = method(standard, side)
  if (bySide !== undefined) return () => bySide({ target })
  // Zod versions without Standard JSON Schema.
  const zod = method(schema, 'toJSONSchema')
  if (zod !== undefined) return () => zod({ target, io: side })
  // ArkType versions without it: each type has one type for its input and one for its output.
  const half: unknown = Reflect.get(schema, side === 'input' ? 'in' : 'out')
  const arktype = method(half, 'toJsonSchema') ?? method(schema, 'toJsonSchema')
  return arktype && (() => arktype())
}

type Method = (...values: readonly unknown[]) => unknown

function method(thing: unknown, name: string): Method | undefined {
  if ((typeof thing !== 'object' || thing === null) && typeof thing !== 'function') return undefined
  const found: unknown = Reflect.get(thing, name)
  // The check: it is a function; its parameters are up to the library.
  return typeof found === 'function' ? (found as Method).bind(thing) : undefined
}

function remedy(schema: StandardSchema, vendor: string): string {
  const start = `this schema of ${vendor} cannot be converted into JSON Schema; `
  if (vendor === 'valibot') {
    return `${start}wrap it with toStandardJsonSchema of @valibot/to-json-schema`
  }
  if (vendor === 'zod') {
    return '_zod' in schema
      ? `${start}write withJsonSchema(schema, z.toJSONSchema(schema))`
      : `${start}use Zod 4, or withJsonSchema(schema, zodToJsonSchema(schema))`
  }
  return `${start}write withJsonSchema(schema, { … })`
}
