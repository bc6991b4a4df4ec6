import type { WorkBudget } from '../../regex/work-budget.ts'
import type { Ajv, AjvPackage, CodeKeywordDefinition, KeywordCxt } from './ajv.ts'
import { isOneOf, isUnique } from './canonical.ts'
import { hasAtLeast, hasAtMost } from './characters.ts'
import { type Cost, workOf } from './cost.ts'

/** Holds the cost of a schema, which is charged whenever the schema is applied to a value. */
export const costKeyword = 'trunkline-cost'

/** Stands for an empty `enum`, which the metaschema of draft-07 does not allow. */
export const noneKeyword = 'trunkline-none'

// Creating the error of an alternative that does not match, and forgetting it.
const mismatchWork = 80

/** How many errors of alternatives are kept: more than a message shows. */
const keptErrors = 16

/**
 * Replaces the keywords of a validator whose work or memory grows with the value, so that they charge
 * the budget. In all other keywords the work is constant, or that of the schemas in them.
 */
export function addKeywords(ajv: Ajv, { code: _, name }: AjvPackage, budget: WorkBudget): void {
  /** Replaces the code of a keyword, which keeps its place among the others. */
  const replace = (keyword: string, changes: (old: CodeKeywordDefinition) => object) => {
    const rule = ajv.RULES.all[keyword]
    if (typeof rule !== 'object') return
    // The check: the keywords replaced here are all defined by code.
    const old = rule.definition as typeof rule.definition & CodeKeywordDefinition
    rule.definition = { ...old, ...changes(old) }
  }

  // Functions are shared: with one for each schema the generated code would take long to compile.
  const lengthOf = (fits: typeof hasAtLeast) => (text: string, limit: number) => {
    budget.spend(text.length / 2)
    return fits(text, limit)
  }
  const functions = {
    spend: (work: number) => budget.spend(work),
    pay: (value: unknown, base: number, perItem: number, perKey: number) =>
      budget.spend(workOf(value, { base, perItem, perKey })),
    minLength: lengthOf(hasAtLeast),
    maxLength: lengthOf(hasAtMost),
    uniqueItems: (items: readonly unknown[]) => isUnique(items, budget),
  }
  const use = ({ gen }: KeywordCxt, ref: unknown) => gen.scopeValue('func', { ref })

  /** Code that fails unless the value is one of a list, as the built-in code does for few scalars. */
  const listing =
    (old: CodeKeywordDefinition, valuesOf: (schema: unknown) => readonly unknown[]) =>
    (cxt: KeywordCxt) => {
      const values = valuesOf(cxt.schema)
      if (values.length <= fewValues && values.every(isShort)) old.code(cxt)
      else cxt.fail(_`!${use(cxt, isOneOf(values, budget))}(${cxt.data})`)
    }

  /** Code that charges for the alternatives that do not match, and keeps few of their errors. */
  const forgetting = (old: CodeKeywordDefinition, kept: number) => (cxt: KeywordCxt) => {
    const { gen, errsCount } = cxt
    const [errors, vErrors] = [name('errors'), name('vErrors')]
    const apply = cxt.subschema.bind(cxt)
    cxt.subschema = (schema, valid) => {
      const applied = apply(schema, valid)
      gen.if(_`!${valid}`, () => {
        gen.code(_`${use(cxt, functions.spend)}(${mismatchWork})`)
        gen.if(_`${errors} > ${errsCount} + ${kept}`, () => {
          gen.code(_`${vErrors}.length = ${errors} = ${errsCount} + ${kept}`)
        })
      })
      return applied
    }
    old.code(cxt)
  }

  ajv.addKeyword({
    keyword: costKeyword,
    before: '$ref',
    code(cxt) {
      // The check: the keyword is set only for this module, to a Cost.
      const { base, perItem, perKey } = cxt.schema as Cost
      cxt.gen.code(_`${use(cxt, functions.pay)}(${cxt.data}, ${base}, ${perItem}, ${perKey})`)
    },
  })
  ajv.addKeyword({
    keyword: noneKeyword,
    error: { message: 'is not allowed, because the list of allowed values is empty' },
    code: cxt => cxt.fail(),
  })
  // The check: the metaschema has checked that it is an array.
  replace('enum', old => ({ code: listing(old, values => values as readonly unknown[]) }))
  replace('const', old => ({ code: listing(old, value => [value]) }))
  replace('uniqueItems', () => ({
    error: { message: 'must NOT have duplicate items' },
    code(cxt: KeywordCxt) {
      if (cxt.schema) cxt.fail(_`!${use(cxt, functions.uniqueItems)}(${cxt.data})`)
    },
  }))
  for (const keyword of ['minLength', 'maxLength'] as const) {
    replace(keyword, () => ({
      code(cxt: KeywordCxt) {
        cxt.fail(_`!${use(cxt, functions[keyword])}(${cxt.data}, ${cxt.schema})`)
      },
    }))
  }
  for (const keyword of ['anyOf', 'oneOf']) {
    replace(keyword, old => ({ code: forgetting(old, keptErrors) }))
  }
  replace('contains', old => ({ code: forgetting(old, 0) }))
}

// A few short scalars are compared one by one.
const fewValues = 16

function isShort(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= 64
  return typeof value !== 'object' || value === null
}
