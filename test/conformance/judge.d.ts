import type { Run } from './runs.js'

export interface Verdict {
  /** How many scenarios were run. */
  readonly scenarios: number
  /** How many checks were passed. */
  readonly passed: number
  /** Everything else, in the words of the suite. */
  readonly problems: readonly string[]
}

export function judge(run: Run, options?: { readonly signal?: AbortSignal }): Promise<Verdict>
