/** Whether a condition holds for a caller; `'unknown'` if a claim is missing or has another type. */
export type ConditionMatch = boolean | 'unknown' | ScopesMissing

/** The caller lacks only scopes, which a client can ask its user for. */
export interface ScopesMissing {
  /** All scopes of the condition. */
  readonly scopes: readonly string[]
  /** How many of them the caller lacks. */
  readonly missing: number
}

/** Returns whether two conditions both hold: `false` wins over `'unknown'`. */
export function and(
  one: boolean | 'unknown',
  other: () => boolean | 'unknown',
): boolean | 'unknown' {
  if (one === false) return false
  const second = other()
  return second === true ? one : second
}

/** Returns a text that is the same for equal matches. */
export function matchKey(match: ConditionMatch): string {
  return typeof match === 'object' ? String(match.missing) : String(match)
}
