/** A limit: its default and what happens when it is reached. */
export interface Limit {
  readonly default: number
  readonly unit: 'bytes' | 'ms' | 'characters' | 'count' | 'share'
  /** A description of the limit and its effect, for `docs/limits.md`. */
  readonly meaning: string
}

export const KiB = 1024
export const MiB = 1024 * KiB
