export interface Run {
  readonly name: string
  readonly side: 'server' | 'client'
  /** The version of the suite. */
  readonly suite: string
  /** Arguments for the suite. */
  readonly args: readonly string[]
  /** How many scenarios the suite must run. */
  readonly scenarios: number
  /** The revision that a router speaks to its upstream server, where a router is tested. */
  readonly behind?: readonly [revision: string]
  /** Run by `npm run conformance` alone. */
  readonly isLong?: boolean
  /** Scenarios whose result is ignored. */
  readonly except?: readonly string[]
  /** How often the case is tried again if the suite finds a problem. */
  readonly retries?: number
}

/** All runs. */
export const runs: readonly Run[]
