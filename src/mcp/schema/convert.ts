import { errorWords } from '../../util/error-words.ts'
import { isRecord } from '../../util/record.ts'
import type { JsonSchema } from '../types/base.ts'
import type { StandardSchema } from './standard-schema.ts'

/** Which face of a schema is meant: what it takes, or what it gives. They differ by its transforms. */
export type Side = 'input' | 'output'

const target = 'draft-2020-12'

/**
 * The JSON Schema of a library's schema: by Standard JSON Schema where the library has it, else by the
 * library's own method. Throws an Error with the remedy where there is no way; a schema that says
 * nothing is never the way out.
 */
export function toJsonSchema(schema: StandardSchema, side: Side): JsonSchema {
  const { vendor } = schema['~standard']
  const convert = converterOf(schema, side)
  if (convert === undefined) throw new Error(remedy(schema, vendor))
  let converted: unknown
  try {
    converted = convert()
  } catch (cause) {
    const why = errorWords(cause)
    throw new Error(`${vendor} cannot write this schema as JSON Schema: ${why}`, { cause })
  }
  if (!isRecord(converted))
    throw new Error(`${vendor} writes this schema as something else than a JSON Schema`)
  // The library writes it, not the author, and the dialect is the usual one.
  const { $schema, ...rest } = converted
  return /\/draft\/2020-12\//.test(String($schema)) ? rest : converted
}

/**
 * Gives a schema the JSON Schema it is published with, for libraries that do not make one:
 * `withJsonSchema(schema, toJsonSchema(schema))`. The schema goes on checking the values.
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
      // The check: the same schema checks, so that its types hold.
      validate: value => standard.validate(value) as never,
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
    },
  }
}

function converterOf(schema: StandardSchema, side: Side): (() => unknown) | undefined {
  const standard: unknown = schema['~standard'].jsonSchema
  const bySide = method(standard, side)
  if (bySide !== undefined) return () => bySide({ target })
  // Zod before it had Standard JSON Schema.
  const zod = method(schema, 'toJSONSchema')
  if (zod !== undefined) return () => zod({ target, io: side })
  // ArkType likewise: each type has one type for what goes in and one for what comes out.
  const half: unknown = Reflect.get(schema, side === 'input' ? 'in' : 'out')
  const arktype = method(half, 'toJsonSchema') ?? method(schema, 'toJsonSchema')
  return arktype && (() => arktype())
}

type Method = (...values: readonly unknown[]) => unknown

function method(thing: unknown, name: string): Method | undefined {
  if ((typeof thing !== 'object' || thing === null) && typeof thing !== 'function') return undefined
  const found: unknown = Reflect.get(thing, name)
  // The check: it is a function; what it is given is up to the library.
  return typeof found === 'function' ? (found as Method).bind(thing) : undefined
}

function remedy(schema: StandardSchema, vendor: string): string {
  const start = `this schema of ${vendor} cannot tell its JSON Schema; `
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
