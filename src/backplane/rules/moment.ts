/**
 * The present time of an engine in milliseconds since 1970, as far as this process knows it. What lives until a time
 * gets it from `most` and is compared with `least`, so that nothing ends early.
 */
export interface Moment {
  /** The time is not before this. */
  readonly least: number
  /** The time is not after this. */
  readonly most: number
}

/** Returns the moment of a clock that this process can read itself. */
export function exactly(now: number): Moment {
  return { least: now, most: now }
}

/** Returns what is stored unless its time is over. */
export function living<T extends { readonly until: number }>(
  stored: T | undefined,
  { least }: Moment,
): T | undefined {
  return stored !== undefined && stored.until > least ? stored : undefined
}

/** Returns an epoch or a revision, in microseconds, that is greater than given ones. */
export function greaterThan(moment: Moment, ...numbers: readonly number[]): number {
  return Math.max(Math.floor(moment.least * 1000), ...numbers.map(number => number + 1))
}
