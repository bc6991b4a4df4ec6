import { ChannelError } from '../channel.ts'
import type { Id } from '../message.ts'

/** How many of the ids of a connection are used: below 80, from 80, 90 or 96 percent on. */
export type IdLevel = 'normal' | 'warning' | 'critical' | 'reserved'

/** The largest id that is exact as a number; at one call per millisecond it lasts for 285 000 years. */
export const MAX_SAFE_ID = Number.MAX_SAFE_INTEGER

/** The largest id of systems with 60-bit integers. Ids beyond MAX_SAFE_ID are bigint. */
export const MAX_ID_60_BIT = 2n ** 60n - 1n

/** Returns the level of an id below a ceiling; the levels begin at 80, 90 and 96 percent. */
export function idLevel(id: number | bigint, ceiling: number | bigint): IdLevel {
  const share = Number(id) / Number(ceiling)
  if (share >= 0.96) return 'reserved'
  if (share >= 0.9) return 'critical'
  return share >= 0.8 ? 'warning' : 'normal'
}

/** Options of an IdCounter. */
export interface IdCounterOptions {
  /** The first id; 1 by default. */
  readonly first?: number | bigint
  readonly ceiling?: number | bigint
  /** Called once for each level that is reached. */
  readonly onLevel?: (level: IdLevel, id: number | bigint) => void
}

/**
 * Issues ascending ids and never the same id twice. At the ceiling `next` throws a ChannelError
 * `'id-overflow'`: a connection that has run out of ids is closed, and a new one starts again.
 */
export class IdCounter {
  readonly #ceiling: number | bigint
  readonly #onLevel: IdCounterOptions['onLevel']
  #last: number | bigint
  #level: IdLevel = 'normal'
  /** Ids below this reach no level, so that counting costs one comparison. */
  #firstLevelAt: number | bigint

  constructor(options: IdCounterOptions = {}) {
    const { first = 1, ceiling = MAX_SAFE_ID } = options
    this.#ceiling = ceiling
    this.#onLevel = options.onLevel
    this.#last = typeof first === 'bigint' ? first - 1n : first - 1
    this.#firstLevelAt = typeof ceiling === 'bigint' ? (ceiling * 8n) / 10n : ceiling * 0.8
  }

  /** The last id that was issued; one below the first id before that. */
  get last(): number | bigint {
    return this.#last
  }

  /** Returns the next id. Throws a ChannelError `'id-overflow'` at the ceiling. */
  next(): Id {
    const last = this.#last
    if (last >= this.#ceiling) {
      throw new ChannelError('id-overflow', `the connection has run out of ids at ${last}`)
    }
    this.#last = typeof last === 'bigint' || last >= MAX_SAFE_ID ? BigInt(last) + 1n : last + 1
    if (this.#last >= this.#firstLevelAt) this.#report()
    return this.#last
  }

  #report(): void {
    const level = idLevel(this.#last, this.#ceiling)
    if (level === this.#level) return
    this.#level = level
    this.#onLevel?.(level, this.#last)
  }
}
