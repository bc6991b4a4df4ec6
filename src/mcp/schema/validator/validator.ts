import { limits } from '../../../util/limits/limits.ts'
import { isRecord } from '../../../util/objects.ts'
import { errorMessage } from '../../../util/text/error-message.ts'
import { compilePattern } from '../../regex/pattern.ts'
import { WorkBudget } from '../../regex/work-budget.ts'
import type { JsonSchema } from '../../types/base.ts'
import type { Checked } from '../issues.ts'
import { type Dialect, dialectOf } from '../json-schema.ts'
import { isIdle } from '../size.ts'
import { type SchemaLocation, walkSchema } from '../walk.ts'
import { type Ajv, type AjvPackage, loadAjv, type Options } from './ajv.ts'
import { type CostContext, costOf, namesIn } from './cost.ts'
import { formats } from './formats.ts'
import { issuesOf } from './json-schema-issues.ts'
import { addKeywords, costKeyword, noneKeyword } from './keywords.ts'

/** Compiles JSON Schemas. The process has one engine. */
export interface Engine {
  /**
   * Compiles a schema that has passed `checkSchema`, which bounds the time that this takes. Throws an
   * Error that says what is wrong if the schema violates its dialect.
   *
   * All keywords together may take `schemaWork` for one value; a value that takes more is invalid.
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
  loading ??= loadAjv().then(ajv => {
    engine = engineOf(ajv)
    return engine
  })
  return loading
}

/** How many schemas an instance of ajv compiles. It keeps something of each as long as it exists. */
const schemasPerInstance = 100

function engineOf(ajvPackage: AjvPackage): Engine {
  // One budget for all schemas, because validation is synchronous.
  const budget = new WorkBudget()
  let shared = new Map<Dialect, Ajv>()
  let count = 0

  const make = (dialect: Dialect) => {
    const ajv = ajvPackage.make(dialect, optionsWith(budget))
    addKeywords(ajv, ajvPackage, budget)
    return ajv
  }

  return {
    compile(schema) {
      const dialect = dialectOf(schema)
      const { marked, hasIds } = prepared(schema)
      if (++count % schemasPerInstance === 0) shared = new Map()
      // Ids stay registered in an instance, and another schema may use the same ones.
      const ajv = hasIds ? make(dialect) : (shared.get(dialect) ?? make(dialect))
      if (!hasIds) shared.set(dialect, ajv)
      budget.renew(limits.schemaWork.default)
      try {
        return validatorOf(ajv.compile(marked), budget)
      } finally {
        ajv.removeSchema(marked)
      }
    },
  }
}

function optionsWith(budget: WorkBudget): Options {
  const charged = [...formats].map(
    ([name, isValid]) =>
      [
        name,
        (text: string) => {
          budget.spend(text.length)
          return isValid(text)
        },
      ] as const,
  )
  const compile = (source: string) => {
    const pattern = compilePattern(source)
    return {
      test: (text: string) => pattern.test(text, budget),
      toString: () => pattern.toString(),
    }
  }
  return {
    ...options,
    formats: Object.fromEntries(charged),
    code: {
      // Optimizing takes several times as long to compile, and has no measurable effect.
      optimize: false,
      regExp: Object.assign(compile, { code: 'pattern' }),
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
  // Above, names are looked up in a loop instead of by code for each.
  loopRequired: 20,
}

/**
 * Returns a copy for the engine: with the cost of each schema, without annotations, which the engine
 * would visit, and without keywords that only ajv knows.
 */
function prepared(schema: JsonSchema): { marked: Record<string, unknown>; hasIds: boolean } {
  const marked: unknown = JSON.parse(JSON.stringify(schema))
  if (!isRecord(marked)) throw new Error('the schema is not an object')
  delete marked.$schema
  const places: SchemaLocation[] = []
  walkSchema(marked, place => {
    for (const keyword of Object.keys(place.schema)) {
      if (isIdle(keyword)) delete place.schema[keyword]
    }
    places.push(place)
  })
  const context: CostContext = {
    isTracking: places.some(({ schema }) => schema.unevaluatedProperties !== undefined),
    names: places.reduce((sum, { schema }) => sum + namesIn(schema), 0),
  }
  for (const place of places) {
    const cost = costOf(place.schema, context)
    if (cost !== undefined) place.schema[costKeyword] = cost
    if (Array.isArray(place.schema.enum) && place.schema.enum.length === 0) {
      delete place.schema.enum
      place.schema[noneKeyword] = true
    }
  }
  return { marked, hasIds: places.some(({ schema }) => schema.$id !== undefined) }
}

function validatorOf(validate: ReturnType<Ajv['compile']>, budget: WorkBudget) {
  return (value: unknown): Checked<unknown> => {
    budget.renew(limits.schemaWork.default)
    let isValid: boolean
    try {
      isValid = validate(value) === true
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
