/** What a number of the configuration may be. */
export interface Range {
  readonly least: number
  /** Unbounded unless said; `Infinity` itself is a value then. */
  readonly most?: number
  /** Whether it counts things; then parts of one are refused. */
  readonly whole?: boolean
}

/**
 * The number, if it may be one; otherwise throws a RangeError that names it, what it may be and what
 * it was.
 */
export function checked(name: string, value: number, range: Range): number {
  const { least, most = Number.POSITIVE_INFINITY, whole = false } = range
  const isNumber = typeof value === 'number' && value >= least && value <= most
  if (isNumber && (!whole || Number.isInteger(value) || value === most)) return value
  const kind = whole ? 'a whole number' : 'a number'
  const span = most === Number.POSITIVE_INFINITY ? `${least} or more` : `from ${least} to ${most}`
  throw new RangeError(`${name} must be ${kind}, ${span}, not ${String(value)}`)
}
