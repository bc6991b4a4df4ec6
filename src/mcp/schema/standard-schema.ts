import type { JsonSchema } from '../types/base.ts'

/**
 * The interface of Standard Schema 1. The type parameters are input and output: they differ if the
 * schema has defaults or transforms.
 *
 * This is a copy, so that our types depend on no library.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** What Standard Schema defines: how to validate, and the types. */
  readonly '~standard': StandardProps<Input, Output>
}

/** The `~standard` member of a schema. */
export interface StandardProps<Input = unknown, Output = Input> {
  readonly version: 1
  /** The name of the library. */
  readonly vendor: string
  /** Validates a value, possibly asynchronously. Never throws for an invalid value. */
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
  /** Exists only for the type checker. */
  readonly types?:
    | {
        /** The type of the values that it accepts. */
        readonly input: Input
        /** The type of the values that it returns. */
        readonly output: Output
      }
    | undefined
  /**
   * The converter of Standard JSON Schema, `{ input(options), output(options) }`, if the library has
   * one. Untyped, because comparing its type with that of each library slows down the compilation of
   * every caller.
   */
  readonly jsonSchema?: unknown
}

/** The result of validation: the value, or its issues. */
export type StandardResult<Output> =
  | {
      /** The value, with defaults and transforms applied. */
      readonly value: Output
      readonly issues?: undefined
    }
  | {
      /** What is wrong with the value. */
      readonly issues: readonly StandardIssue[]
    }

/** One issue, and its path. */
export interface StandardIssue {
  /** What is wrong, for people. */
  readonly message: string
  /** Where it is wrong: names of members and positions in arrays. */
  readonly path?: readonly (PropertyKey | PathSegment)[] | undefined
}

/** One step of a path, as some libraries write it. */
export interface PathSegment {
  /** The name of the member, or the position in the array. */
  readonly key: PropertyKey
}

/** Every kind of schema that is accepted: one of a library, or a plain JSON Schema. */
export type Schema = StandardSchema | JsonSchema

/**
 * The type of the values that a schema returns: what a handler receives.
 *
 * A plain JSON Schema is inferred as far as that is cheap; beyond it is `unknown`. The compiler must
 * know its literals (`as const`, or a `const` type parameter); if it does not, the type is
 * `Record<string, unknown>`.
 */
export type Infer<S> = S extends { readonly '~standard': { readonly types?: infer Types } }
  ? // With `exactOptionalPropertyTypes`, the inferred type includes undefined.
    NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : InferRoot<S>

/** The type of the values that a schema accepts: what a caller passes, before defaults and transforms. */
export type InferInput<S> = S extends { readonly '~standard': { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly input: infer Input }
    ? Input
    : unknown
  : InferRoot<S>

/** A schema whose literals the compiler does not know counts as an object, as almost all are. */
type InferRoot<S> = unknown extends InferJson<S> ? Record<string, unknown> : InferJson<S>

/** The type of the values of a JSON Schema. */
type InferJson<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: infer Type }
      ? Type extends readonly (infer Each)[]
        ? InferTyped<S, Each>
        : InferTyped<S, Type>
      : S extends { readonly anyOf: readonly (infer Each)[] }
        ? InferJson<Each>
        : S extends { readonly oneOf: readonly (infer Each)[] }
          ? InferJson<Each>
          : unknown

/** The type of the values of one JSON type, or of the union of several. */
type InferTyped<S, Type> = Type extends 'object'
  ? InferObject<S>
  : Type extends 'array'
    ? S extends { readonly items: infer Items }
      ? InferJson<Items>[]
      : unknown[]
    : Type extends keyof Primitives
      ? Primitives[Type]
      : unknown

type InferObject<S> = S extends { readonly properties: infer Properties }
  ? S extends { readonly required: readonly (infer Required)[] }
    ? // Inferred and mapped again, so that editors show one object and not an intersection.
      {
        -readonly [Name in keyof Properties as Name extends Required ? Name : never]: InferJson<
          Properties[Name]
        >
      } & {
        -readonly [Name in keyof Properties as Name extends Required ? never : Name]?: InferJson<
          Properties[Name]
        >
      } extends infer Members
      ? { [Name in keyof Members]: Members[Name] }
      : never
    : { -readonly [Name in keyof Properties]?: InferJson<Properties[Name]> }
  : Record<string, unknown>

/** The TypeScript type of each primitive type of JSON Schema. */
export interface Primitives {
  /** A text. */
  readonly string: string
  /** Any number. */
  readonly number: number
  /** A number without a fraction. */
  readonly integer: number
  /** True or false. */
  readonly boolean: boolean
  /** Only null. */
  readonly null: null
}

/** Whether a value is a schema of a library that implements Standard Schema. */
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
