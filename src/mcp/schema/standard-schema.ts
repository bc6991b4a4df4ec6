import type { JsonSchema } from '../types/base.ts'

/**
 * What any schema library that follows Standard Schema 1 offers. The two type parameters are what
 * goes in and what comes out: they differ where the schema has defaults or transforms.
 *
 * This is our own copy of the interface, so that the types of no library reach our users.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardProps<Input, Output>
}

/** The `~standard` member of a schema. */
export interface StandardProps<Input = unknown, Output = Input> {
  readonly version: 1
  readonly vendor: string
  /** Checks a value. It may be asynchronous; nothing is thrown for a value that does not fit. */
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
  /** Exists for the compiler alone. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined
  /**
   * The converter of Standard JSON Schema, `{ input(options), output(options) }`, where the library
   * has one. Looked at when it is used: comparing its type with each library's costs every caller.
   */
  readonly jsonSchema?: unknown
}

/** A value that fits, or what is wrong with it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/** One thing that is wrong, and where. */
export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Everything that is taken for a schema: one of a library, or a plain JSON Schema. */
export type Schema = StandardSchema | JsonSchema

/**
 * The type of the values a schema lets through: what a handler receives.
 *
 * A plain JSON Schema is read as far as it can be read cheaply; what lies beyond is `unknown`. The
 * compiler must know its words for that (`as const`, or a `const` type parameter); where it does
 * not, the type is `Record<string, unknown>`.
 */
export type Infer<S> = S extends { readonly '~standard': { readonly types?: infer Types } }
  ? Types extends { readonly output: infer Output }
    ? Output
    : unknown
  : InferRoot<S>

/** The type of the values a schema takes: what a caller passes in, before defaults and transforms. */
export type InferInput<S> = S extends { readonly '~standard': { readonly types?: infer Types } }
  ? Types extends { readonly input: infer Input }
    ? Input
    : unknown
  : InferRoot<S>

/** A schema whose words the compiler does not know describes an object, as almost all do. */
type InferRoot<S> = unknown extends InferJson<S> ? Record<string, unknown> : InferJson<S>

/** What the words of a JSON Schema say about the type of a value. */
type InferJson<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: 'object' }
      ? InferObject<S>
      : S extends { readonly type: 'array'; readonly items: infer Items }
        ? InferJson<Items>[]
        : S extends { readonly type: keyof Primitives }
          ? Primitives[S['type']]
          : unknown

type InferObject<S> = S extends { readonly properties: infer Properties }
  ? S extends { readonly required: readonly (infer Required)[] }
    ? {
        -readonly [Name in keyof Properties as Name extends Required ? Name : never]: InferJson<
          Properties[Name]
        >
      } & {
        -readonly [Name in keyof Properties as Name extends Required ? never : Name]?: InferJson<
          Properties[Name]
        >
      }
    : { -readonly [Name in keyof Properties]?: InferJson<Properties[Name]> }
  : Record<string, unknown>

interface Primitives {
  readonly string: string
  readonly number: number
  readonly integer: number
  readonly boolean: boolean
  readonly null: null
  readonly array: unknown[]
}

/** Whether something is a schema of a library that follows Standard Schema. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  // Schemas of some libraries are functions.
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false
  if (!('~standard' in value)) return false
  const standard = value['~standard']
  return (
    typeof standard === 'object' &&
    standard !== null &&
    'version' in standard &&
    standard.version === 1 &&
    'validate' in standard &&
    typeof standard.validate === 'function'
  )
}
