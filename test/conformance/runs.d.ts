export interface Run {
  readonly name: string
  readonly side: 'server' | 'client'
  /** The version of the suite. */
  readonly suite: string
  /** Arguments for it. */
  readonly args: readonly string[]
  /** How many scenarios it must run. */
  readonly scenarios: number
  /** For a client, which is judged one scenario at a time. */
  readonly scenario?: string
  /** How often a client may try again. */
  readonly retries?: number
}

export const runs: readonly Run[]
