import { absent } from './compare.ts'

/** The pairs of servers that are compared, some of them with two kinds of client. */
export type Pair =
  | 'memory'
  | 'filesystem'
  | 'filesystem, roots'
  | 'everything'
  | 'everything, capable client'
  | 'chart'

/** A difference between servers and their ports, and its reason, in words for the documentation. */
export interface KnownDifference {
  readonly what: string
  readonly original: string
  readonly port: string
  readonly because: string
  readonly places: Readonly<Partial<Record<Pair, readonly Place[]>>>
}

/** A place, what the original sends there, and what the port sends. `*` stands for any text. */
export type Place = readonly [at: string, original: unknown, port: unknown]

/** An error that has a kind in its data, where the original has no data. */
export function kindOf(step: string, kind: string): Place {
  return [`${step}:*error.data`, absent, new RegExp(`"kind":"${kind}"`)]
}
