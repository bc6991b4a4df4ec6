import type { Ajv, Options } from 'ajv'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { errorWords } from '../../util/error-words.ts'
import { isRecord } from '../../util/record.ts'
import { compilePattern } from '../regex/pattern.ts'
import type { JsonSchema } from '../types/base.ts'
import { formats } from './formats.ts'
import type { Checked } from './issues.ts'
import { type Dialect, dialectOf } from './json-schema.ts'
import { issuesOf } from './json-schema-issues.ts'
import { walkSchema } from './walk.ts'

/** Compiles JSON Schemas. One serves the whole process. */
export interface Engine {
  /**
   * Compiles a schema that `checkSchema` has passed. Throws an Error that says what is wrong where the
   * schema breaks a rule of its dialect.
   *
   * Values are neither changed nor given defaults. `format` is checked for the formats of `formats`, and
   * a remark otherwise. The first thing that is wrong with a value is told, not everything: looking
   * further would run patterns on texts that are known to be too long for them.
   */
  compile(schema: JsonSchema): (value: unknown) => Checked<unknown>
}

let engine: Engine | undefined
let loading: Promise<Engine> | undefined

/**
 * The engine, at once where it has been loaded before. A program that has no plain JSON Schema
 * never loads it.
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

/** How many references may be followed for one value: far beyond use, and a fraction of a second. */
const maxSteps = 1_000_000

/** Marks the schemas that refer to others, so that each time one is followed is counted. */
const step = 'trunkline-step'

// Keywords of ajv's own. With `$async`, every value would seem to fit: the verdict is a promise.
const foreign = ['$async', 'nullable', 'id', '$recursiveRef', '$recursiveAnchor']

function engineOf(makers: ReadonlyMap<Dialect, (options: Options) => Ajv>): Engine {
  // Counted for all together, because nothing else runs while a value is checked.
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
    // The engine's own compares each item with each other one.
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
      // What parts are called stays with an instance, and another schema may call its own the same.
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
  // Names like "constructor" must not find what every object inherits.
  ownProperties: true,
  // Written out at each reference, few large parts would make more code than there is memory.
  inlineRefs: false,
  // For the words of an issue.
  verbose: true,
  // 19.99 is a multiple of 0.01, although division says otherwise.
  multipleOfPrecision: 9,
  formats: Object.fromEntries(formats),
  code: {
    // Takes several times as long to compile, and saves nothing that can be measured.
    optimize: false,
    regExp: Object.assign((source: string) => compilePattern(source), { code: 'pattern' }),
  },
}

/** A copy for the engine alone: its references marked, and without words that only the engine knows. */
function prepared(schema: JsonSchema): { marked: Record<string, unknown>; hasIds: boolean } {
  const marked: unknown = JSON.parse(JSON.stringify(schema))
  if (!isRecord(marked)) throw new Error('the schema is no object')
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
      // Too many steps, or a schema that refers to itself without end.
      const why = errorWords(error)
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

/** Gives objects their keys in order: two that differ only in that are equal. */
function sorted(_: string, value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
