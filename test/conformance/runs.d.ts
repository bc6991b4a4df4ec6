export interface Run {
  readonly name: string
  readonly side: 'server' | 'client'
  /** The version of the suite. */
  readonly suite: string
  /** Arguments for it. */
  readonly args: readonly string[]
  /** How many scenarios it must run. */
  readonly scenarios: number
  /** The revision that a router speaks to the server behind it, where it is a router that is judged. */
  readonly behind?: readonly [revision: string]
  /** Judged by `npm run conformance` alone. */
  readonly isLong?: boolean
  /** Scenarios whose outcome says nothing. */
  readonly except?: readonly string[]
  /** For a client, which is judged one scenario at a time. */
  readonly scenario?: string
  /** How often a client may try again. */
  readonly retries?: number
}

/** Everything that is judged. */
export const runs: readonly Run[]
