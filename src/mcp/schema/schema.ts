import { errorWords } from '../../util/error-words.ts'
import { isRecord } from '../../util/record.ts'
import type { JsonSchema } from '../types/base.ts'
import { type Side, toJsonSchema } from './convert.ts'
import type { Checked, Issue } from './issues.ts'
import { checkSchema, copyOf, isObjectSchema } from './json-schema.ts'
import {
  type Infer,
  isStandardSchema,
  type Schema,
  type StandardResult,
  type StandardSchema,
} from './standard-schema.ts'
import { type Engine, loadEngine } from './validator.ts'

/** Checks values against one schema, any number of times. */
export interface Checker<T> {
  /**
   * Checks a value. Synchronous, save where the schema itself is asynchronous, and the first time that a
   * plain JSON Schema is used in a process. Throws or rejects with a SchemaError where a plain JSON
   * Schema turns out to break the rules of its dialect.
   */
  check(value: unknown): Checked<T> | Promise<Checked<T>>
  /** Does now what else the first check does. Rejects as the first check would. */
  prepare(): Promise<void>
}

/** A schema that is ready to be published, and to check values. */
export interface Compiled<T> extends Checker<T> {
  /** What is published: JSON Schema 2020-12 unless it names another dialect. Frozen. */
  readonly jsonSchema: JsonSchema
  /** Whether only objects fit, which some revisions ask of every schema; then its `type` says so. */
  readonly isObjectRoot: boolean
}

export interface CompileOptions {
  /** What the schema is for, as errors begin: `tool "forecast" input`. */
  readonly what: string
  /**
   * Whether it describes what comes in (the default) or what goes out. What comes in is always an
   * object, and a schema for anything else is refused; what goes out may be anything.
   */
  readonly side?: Side
}

/** A schema that cannot be used: the message names what it is for, the fault and, often, the remedy. */
export class SchemaError extends Error {
  constructor(what: string, cause: unknown) {
    super(`${what}: ${errorWords(cause)}`, { cause })
    this.name = 'SchemaError'
  }
}

/**
 * Makes a schema ready for use: one of a library that follows Standard Schema, or a plain JSON Schema,
 * or none at all, which means an object without members.
 *
 * A library's schema is checked by the library, and published as the JSON Schema that the library
 * makes of it. A plain one is published as it is written. Throws a SchemaError at once where it cannot
 * be published or used; a plain one whose faults lie deeper is found out by `prepare` or the first
 * `check`.
 */
export function compileSchema<const S extends Schema>(
  schema: S | undefined,
  options: CompileOptions,
): Compiled<Infer<S>> {
  const { what, side = 'input' } = options
  try {
    const compiled = compile(schema, side, what)
    if (side === 'input' && !compiled.isObjectRoot) {
      throw new Error('the schema must say "type": "object", because nothing else can come in')
    }
    // The check: what passes `check` is what the schema says, and the schema says Infer<S>.
    return compiled as Compiled<Infer<S>>
  } catch (error) {
    throw error instanceof SchemaError ? error : new SchemaError(what, error)
  }
}

/**
 * Makes a schema ready for checking alone. Nothing is published, so that a library's schema needs no
 * JSON Schema. Throws a SchemaError for a plain JSON Schema that cannot be used.
 */
export function checkerOf<const S extends Schema>(schema: S, what: string): Checker<Infer<S>> {
  // The check: as above.
  if (isStandardSchema(schema)) return standardChecker(schema) as Checker<Infer<S>>
  return compileSchema(schema, { what, side: 'output' })
}

/** What can be compiled in a fraction of a second; another's schema must not take longer. */
const maxPlainSchemas = 2000

function compile(schema: Schema | undefined, side: Side, what: string): Compiled<unknown> {
  if (schema === undefined) return nothing
  if (isStandardSchema(schema)) {
    const converted = toJsonSchema(schema, side)
    if (Object.keys(converted).length === 0)
      throw new Error('the schema says nothing: leave it out')
    const published = publish(converted, side)
    checkSchema(published.jsonSchema, { patterns: false })
    return { ...published, ...standardChecker(schema) }
  }
  if (!isRecord(schema)) throw new Error('this is no schema')
  if (Object.values(schema).some(isStandardSchema)) {
    throw new Error('these are schemas by name: make one of them, as in z.object({ … })')
  }
  const published = publish(schema, side)
  checkSchema(published.jsonSchema, { maxSchemas: maxPlainSchemas })
  return { ...published, ...plainChecker(published.jsonSchema, what) }
}

/** Fixes what is published: nobody can change it any more, and an object schema says that it is one. */
function publish(
  schema: object,
  side: Side,
): Pick<Compiled<unknown>, 'jsonSchema' | 'isObjectRoot'> {
  const copy = copyOf(schema)
  // What comes in can be nothing else, so that a type that is left out is understood.
  const isImplied = side === 'input' && copy.type === undefined && isRecord(copy.properties)
  const isObjectRoot = isImplied || isObjectSchema(copy)
  if (!isObjectRoot || copy.type === 'object') return { jsonSchema: copy, isObjectRoot }
  const said = copy.type === undefined ? { type: 'object', ...copy } : { ...copy, type: 'object' }
  return { jsonSchema: Object.freeze(said), isObjectRoot }
}

/** The schema of those who have none: an object without members. */
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
    // A library's own kinds of arrays stay with the library.
    return { message, path: Array.from(path ?? [], keyOf) }
  })
  return { ok: false, issues }
}

function keyOf(part: PropertyKey | { readonly key: PropertyKey }): string | number {
  const key = typeof part === 'object' ? part.key : part
  return typeof key === 'number' ? key : String(key)
}

type Validate = (value: unknown) => Checked<unknown>

/** Checks by a plain JSON Schema, which is compiled when it is first needed. */
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
