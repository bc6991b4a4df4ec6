/** The numbers that a setting accepts. */
export interface Range {
  readonly min: number
  /** No upper bound if absent; `Infinity` itself is accepted then. */
  readonly max?: number
  /** Whether fractions are rejected. */
  readonly integer?: boolean
}

/**
 * Returns the number if it lies in the range; otherwise throws a RangeError that names the setting and
 * the range.
 */
export function checkRange(name: string, value: number, range: Range): number {
  const { min, max = Number.POSITIVE_INFINITY, integer = false } = range
  const isNumber = typeof value === 'number' && value >= min && value <= max
  if (isNumber && (!integer || Number.isInteger(value) || value === max)) return value
  const kind = integer ? 'an integer' : 'a number'
  const span = max === Number.POSITIVE_INFINITY ? `≥ ${min}` : `from ${min} to ${max}`
  throw new RangeError(`${name} must be ${kind} ${span} (got ${String(value)})`)
}
