import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import type { JsonSchema } from '../types/base.ts'
import { type Side, toJsonSchema } from './convert.ts'
import { defaultsOf } from './defaults.ts'
import type { Checked, Issue } from './issues.ts'
import { checkSchema, copyOf, isObjectSchema } from './json-schema.ts'
import {
  type Infer,
  isStandardSchema,
  type Schema,
  type StandardResult,
  type StandardSchema,
} from './standard-schema.ts'
import { type Engine, loadEngine } from './validator/validator.ts'

/** Validates values against one schema, any number of times. */
export interface Checker<T> {
  /**
   * Validates a value. Synchronous, unless the schema is asynchronous or this is the first use of a
   * plain JSON Schema in the process. Throws or rejects with a SchemaError if a plain JSON Schema
   * violates its dialect.
   */
  check(value: unknown): Checked<T> | Promise<Checked<T>>
  /** Compiles the schema ahead of the first check. Rejects as the first check would. */
  prepare(): Promise<void>
}

/** A schema that can be published and can validate values. */
export interface Compiled<T> extends Checker<T> {
  /** The published schema: JSON Schema 2020-12 unless it names another dialect. Frozen. */
  readonly jsonSchema: JsonSchema
  /** Whether it allows only objects, which some revisions require; then its `type` is `'object'`. */
  readonly isObjectRoot: boolean
}

export interface CompileOptions {
  /** What the schema is for; starts the error messages: `tool "forecast" input`. */
  readonly what: string
  /**
   * Whether it describes input (the default) or output. Input is always an object, and a schema for
   * anything else is rejected; output may be any value.
   */
  readonly side?: Side
  /**
   * Whether `check` fills in the defaults of a plain JSON Schema; true by default. Not for values of a peer
   * that must match by themselves.
   */
  readonly defaults?: boolean
  /** Whether a peer sent the schema. Compiling it must not take long, so its size is limited more. */
  readonly isForeign?: boolean
}

/** A schema that cannot be used. The message names its purpose, the fault and, often, the remedy. */
export class SchemaError extends Error {
  constructor(what: string, cause: unknown) {
    super(`${what}: ${errorMessage(cause)}`, { cause })
    this.name = 'SchemaError'
  }
}

/**
 * Compiles a schema: one of a library that implements Standard Schema, a plain JSON Schema, or none,
 * which means an object without members.
 *
 * The schema of a library is validated by the library, and published as the JSON Schema that the
 * library generates. A plain one is published as it is. Throws a SchemaError at once if it cannot be
 * published or used; deeper faults of a plain one are found by `prepare` or the first `check`.
 */
export function compileSchema<const S extends Schema>(
  schema: S | undefined,
  options: CompileOptions,
): Compiled<Infer<S>> {
  const { side = 'input', what } = options
  try {
    const compiled = compile(schema, { ...options, side })
    if (side === 'input' && !compiled.isObjectRoot) {
      throw new Error('the schema must have "type": "object", because input is always an object')
    }
    // The check: a value that passes `check` has the type of the schema, Infer<S>.
    return compiled as Compiled<Infer<S>>
  } catch (error) {
    throw error instanceof SchemaError ? error : new SchemaError(what, error)
  }
}

/**
 * Compiles a schema for validation only. Nothing is published, so the schema of a library needs no JSON
 * Schema. Throws a SchemaError for a plain JSON Schema that cannot be used.
 */
export function checkerOf<const S extends Schema>(schema: S, what: string): Checker<Infer<S>> {
  // The check: a value that passes has the type of the schema.
  if (isStandardSchema(schema)) return standardChecker(schema) as Checker<Infer<S>>
  return compileSchema(schema, { what, side: 'output' })
}

function compile(
  schema: Schema | undefined,
  { what, side, defaults = true, isForeign = false }: CompileOptions & { readonly side: Side },
): Compiled<unknown> {
  if (schema === undefined) return nothing
  if (isStandardSchema(schema)) {
    const converted = toJsonSchema(schema, side)
    if (Object.keys(converted).length === 0) throw new Error('the schema is empty: omit it')
    const published = publish(converted, side)
    checkSchema(published.jsonSchema, { patterns: false })
    return { ...published, ...standardChecker(schema) }
  }
  if (!isRecord(schema)) throw new Error('this is not a schema')
  if (Object.values(schema).some(isStandardSchema)) {
    throw new Error('this is an object of schemas: combine them into one, as in z.object({ … })')
  }
  const { maxLength, maxSize } = isForeign ? foreignLimits : ownLimits
  const published = publish(schema, side, maxLength)
  checkSchema(published.jsonSchema, { maxSize, maxSchemas: limits.schemaCount.default })
  const checker = plainChecker(published.jsonSchema, what)
  return { ...published, ...(defaults ? withDefaults(checker, published) : checker) }
}

const ownLimits = {
  maxLength: limits.schemaLength.default,
  maxSize: limits.schemaSize.default,
}

const foreignLimits = {
  maxLength: limits.peerSchemaLength.default,
  maxSize: limits.peerSchemaSize.default,
}

/** Creates the published schema: frozen, with `type: 'object'` if it allows only objects. */
function publish(
  schema: object,
  side: Side,
  maxLength?: number,
): Pick<Compiled<unknown>, 'jsonSchema' | 'isObjectRoot'> {
  const copy = copyOf(schema, maxLength)
  // Input is always an object, so a missing type is implied.
  const isImplied = side === 'input' && copy.type === undefined && isRecord(copy.properties)
  const isObjectRoot = isImplied || isObjectSchema(copy)
  if (!isObjectRoot || copy.type === 'object') return { jsonSchema: copy, isObjectRoot }
  const said = copy.type === undefined ? { type: 'object', ...copy } : { ...copy, type: 'object' }
  return { jsonSchema: Object.freeze(said), isObjectRoot }
}

/** The schema for handlers without one: an object without members. */
const nothing: Compiled<unknown> = {
  jsonSchema: copyOf({ type: 'object', additionalProperties: false }),
  isObjectRoot: true,
  check(value) {
    if (!isRecord(value)) return { ok: false, issues: [{ path: [], message: 'expected object' }] }
    const keys = Object.keys(value)
    if (keys.length === 0) return { ok: true, value }
    return {
      ok: false,
      issues: keys.map(key => ({ path: [key], message: 'is not a known property' })),
    }
  },
  prepare: async () => {},
}

function standardChecker(schema: StandardSchema): Checker<unknown> {
  const standard = schema['~standard']
  return {
    check(value) {
      const result = standard.validate(value)
      return 'then' in result ? result.then(checked) : checked(result)
    },
    prepare: async () => {},
  }
}

function checked(result: StandardResult<unknown>): Checked<unknown> {
  if (result.issues === undefined) return { ok: true, value: result.value }
  const issues = Array.from(result.issues, ({ message, path }): Issue => {
    // Copied, because libraries return array types of their own.
    return { message, path: Array.from(path ?? [], keyOf) }
  })
  return { ok: false, issues }
}

function keyOf(part: PropertyKey | { readonly key: PropertyKey }): string | number {
  const key = typeof part === 'object' ? part.key : part
  return typeof key === 'number' ? key : String(key)
}

/** Fills in the defaults of a plain JSON Schema before each check, as schemas of libraries do. */
function withDefaults(
  checker: Checker<unknown>,
  { jsonSchema }: Pick<Compiled<unknown>, 'jsonSchema'>,
): Checker<unknown> {
  const apply = defaultsOf(jsonSchema)
  if (apply === undefined) return checker
  return { ...checker, check: value => checker.check(apply(value)) }
}

type Validate = (value: unknown) => Checked<unknown>

/** Validates with a plain JSON Schema, which is compiled on first use. */
function plainChecker(schema: JsonSchema, what: string): Checker<unknown> {
  let validate: Validate | undefined
  let fault: SchemaError | undefined
  const compiled = (engine: Engine): Validate => {
    if (fault !== undefined) throw fault
    try {
      validate ??= engine.compile(schema)
      return validate
    } catch (error) {
      fault = new SchemaError(what, error)
      throw fault
    }
  }
  return {
    check(value) {
      if (validate !== undefined) return validate(value)
      const engine = loadEngine()
      if ('then' in engine) return engine.then(loaded => compiled(loaded)(value))
      return compiled(engine)(value)
    },
    async prepare() {
      compiled(await loadEngine())
    },
  }
}
