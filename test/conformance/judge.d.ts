import type { Run } from './runs.js'

export interface SuiteResult {
  /** How many scenarios were run. */
  readonly scenarios: number
  /** How many checks passed. */
  readonly passed: number
  /** Every other check, in the words of the suite. */
  readonly problems: readonly string[]
}

export function judge(run: Run, options?: { readonly signal?: AbortSignal }): Promise<SuiteResult>
