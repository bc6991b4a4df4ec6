import type { WorkBudget } from '../../regex/work-budget.ts'

// The work for a value, besides that for its characters, of which one step copies several.
const valueWork = 32
const characterWork = 0.25

/**
 * Returns the JSON text of a value with the keys of its objects sorted: the same for values that are
 * equal in JSON. Throws WorkExceeded if the value is too large.
 */
export function canonicalText(value: unknown, budget: WorkBudget): string {
  if (typeof value !== 'object' || value === null) {
    budget.spend(valueWork + (typeof value === 'string' ? value.length * characterWork : 0))
    return JSON.stringify(value) ?? 'null'
  }
  budget.spend(valueWork)
  if (Array.isArray(value)) return `[${value.map(item => canonicalText(item, budget)).join()}]`
  if ('toJSON' in value) return canonicalText(JSON.parse(JSON.stringify(value)), budget)
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  const texts = members.map(
    ([key, inner]) => `${canonicalText(key, budget)}:${canonicalText(inner, budget)}`,
  )
  return `{${texts.join()}}`
}

/** Returns a test for values that equal one of these in JSON. */
export function isOneOf(
  values: readonly unknown[],
  budget: WorkBudget,
): (value: unknown) => boolean {
  const scalars = new Set(values.filter(value => !isComposite(value)))
  const texts = new Set(values.filter(isComposite).map(value => canonicalText(value, budget)))
  const longest = [...scalars].reduce(
    (most: number, value) => (typeof value === 'string' ? Math.max(most, value.length) : most),
    0,
  )
  return value => {
    if (isComposite(value)) return texts.size > 0 && texts.has(canonicalText(value, budget))
    if (typeof value !== 'string') return scalars.has(value)
    if (value.length > longest) return false
    budget.spend(1 + value.length * characterWork)
    return scalars.has(value)
  }
}

/** Whether no two items are equal in JSON. */
export function isUnique(items: readonly unknown[], budget: WorkBudget): boolean {
  const seen = new Set<unknown>()
  for (const item of items) {
    const key = isComposite(item) ? canonicalText(item, budget) : scalarKey(item, budget)
    if (seen.has(key)) return false
    seen.add(key)
  }
  return true
}

/** A key that differs from those of composite values. */
function scalarKey(value: unknown, budget: WorkBudget): unknown {
  budget.spend(valueWork)
  if (typeof value !== 'string') return value
  budget.spend(value.length * characterWork)
  return `"${value}`
}

function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
