import type { Ajv, Options } from 'ajv'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { errorMessage } from '../../util/error-message.ts'
import { isRecord } from '../../util/objects.ts'
import { compilePattern } from '../regex/pattern.ts'
import type { JsonSchema } from '../types/base.ts'
import { formats } from './formats.ts'
import type { Checked } from './issues.ts'
import { type Dialect, dialectOf } from './json-schema.ts'
import { issuesOf } from './json-schema-issues.ts'
import { walkSchema } from './walk.ts'

/** Compiles JSON Schemas. The process has one engine. */
export interface Engine {
  /**
   * Compiles a schema that has passed `checkSchema`. Throws an Error that says what is wrong if the
   * schema violates its dialect.
   *
   * Validation neither changes values nor applies defaults. `format` is checked for the formats of
   * `formats`, and is an annotation otherwise. Only the first error of a value is reported, because
   * continuing would run patterns on strings that are already known to be too long.
   */
  compile(schema: JsonSchema): (value: unknown) => Checked<unknown>
}

let engine: Engine | undefined
let loading: Promise<Engine> | undefined

/**
 * Returns the engine, synchronously if it is loaded. A program without plain JSON Schemas never loads
 * it.
 */
export function loadEngine(): Engine | Promise<Engine> {
  if (engine !== undefined) return engine
  loading ??= Promise.all([import('ajv/dist/2020.js'), import('ajv')]).then(
    ([{ Ajv2020 }, { Ajv }]) => {
      engine = engineOf(
        new Map([
          ['2020-12', (options: Options) => new Ajv2020(options)],
          ['draft-07', (options: Options) => new Ajv(options)],
        ]),
      )
      return engine
    },
  )
  return loading
}

/**
 * How many references may be followed for one value: far above normal use, and a fraction of a second.
 */
const maxSteps = 1_000_000

/** Marks schemas with references, so that following one is counted. */
const step = 'trunkline-step'

// Keywords of ajv itself. With `$async` every value would seem valid, because the result is a promise.
const foreign = ['$async', 'nullable', 'id', '$recursiveRef', '$recursiveAnchor']

function engineOf(makers: ReadonlyMap<Dialect, (options: Options) => Ajv>): Engine {
  // One counter for all schemas, because validation is synchronous.
  const taken = { steps: 0 }
  const shared = new Map<Dialect, Ajv>()

  const make = (dialect: Dialect) => {
    const ajv = makers.get(dialect)?.(options)
    if (ajv === undefined) throw new Error(`no engine for ${dialect}`)
    ajv.addKeyword({
      keyword: step,
      before: '$ref',
      errors: false,
      validate: () => {
        if (++taken.steps > maxSteps) throw new Error('takes too many steps')
        return true
      },
    })
    // The keyword of ajv compares all pairs of items.
    ajv.removeKeyword('uniqueItems')
    ajv.addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      validate: (isWanted: boolean, items: readonly unknown[]) => !isWanted || isUnique(items),
    })
    return ajv
  }

  return {
    compile(schema) {
      const dialect = dialectOf(schema)
      const { marked, hasIds } = prepared(schema)
      // Ids stay registered in an instance, and another schema may use the same ones.
      const ajv = hasIds ? make(dialect) : (shared.get(dialect) ?? make(dialect))
      if (!hasIds) shared.set(dialect, ajv)
      try {
        return validatorOf(ajv.compile(marked), taken)
      } finally {
        ajv.removeSchema(marked)
      }
    },
  }
}

const options: Options = {
  strict: false,
  logger: false,
  // Names such as "constructor" must not match inherited members.
  ownProperties: true,
  // Inlined at each reference, a few large parts would generate more code than fits in memory.
  inlineRefs: false,
  // For the messages of issues.
  verbose: true,
  // 19.99 is a multiple of 0.01, although floating-point division says otherwise.
  multipleOfPrecision: 9,
  formats: Object.fromEntries(formats),
  code: {
    // Optimizing takes several times as long to compile, and has no measurable effect.
    optimize: false,
    regExp: Object.assign((source: string) => compilePattern(source), { code: 'pattern' }),
  },
}

/** Returns a copy for the engine: its references marked, and without keywords that only ajv knows. */
function prepared(schema: JsonSchema): { marked: Record<string, unknown>; hasIds: boolean } {
  const marked: unknown = JSON.parse(JSON.stringify(schema))
  if (!isRecord(marked)) throw new Error('the schema is not an object')
  delete marked.$schema
  let hasIds = false
  walkSchema(marked, place => {
    if (place.schema.$id !== undefined) hasIds = true
    for (const keyword of foreign) delete place.schema[keyword]
    if ('$ref' in place.schema || '$dynamicRef' in place.schema) place.schema[step] = true
  })
  return { marked, hasIds }
}

function validatorOf(validate: ValidateFunction, taken: { steps: number }) {
  return (value: unknown): Checked<unknown> => {
    taken.steps = 0
    let isValid: boolean
    try {
      isValid = validate(value)
    } catch (error) {
      // Too many steps, or a schema with infinite recursion.
      const why = errorMessage(error)
      return { ok: false, issues: [{ path: [], message: `cannot be checked: ${why}` }] }
    }
    return isValid
      ? { ok: true, value }
      : { ok: false, issues: issuesOf(validate.errors ?? [], value) }
  }
}

function isUnique(items: readonly unknown[]): boolean {
  return new Set(items.map(item => JSON.stringify(item, sorted))).size === items.length
}

/** Sorts the keys of objects: two that differ only in their order are equal. */
function sorted(_: string, value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
