import { ChannelError } from '../channel.ts'
import type { Id } from '../message.ts'

/** How much of the ids of one connection is used up. */
export type IdLevel = 'normal' | 'warning' | 'critical' | 'reserved'

/** The ceiling beyond which numbers are no longer exact; at a call per millisecond it lasts 285 000 years. */
export const MAX_SAFE_ID = Number.MAX_SAFE_INTEGER

/** The ceiling of systems with 60-bit integers. Beyond MAX_SAFE_ID its ids are bigint. */
export const MAX_ID_60_BIT = 2n ** 60n - 1n

/** Where a counter stands on the way to its ceiling: 80, 90 and 96 per cent. */
export function idLevel(id: number | bigint, ceiling: number | bigint): IdLevel {
  const share = Number(id) / Number(ceiling)
  if (share >= 0.96) return 'reserved'
  if (share >= 0.9) return 'critical'
  return share >= 0.8 ? 'warning' : 'normal'
}

export interface IdCounterOptions {
  /** The first id; 1 by default. */
  readonly first?: number | bigint
  readonly ceiling?: number | bigint
  /** Told once for each level that is reached. */
  readonly onLevel?: (level: IdLevel, id: number | bigint) => void
}

/**
 * Counts ids upwards and never gives one twice. At the ceiling `next` throws a ChannelError
 * `'id-overflow'`: a connection that has used up its ids is closed, and a fresh one begins again.
 */
export class IdCounter {
  readonly #ceiling: number | bigint
  readonly #onLevel: IdCounterOptions['onLevel']
  #last: number | bigint
  #level: IdLevel = 'normal'
  /** Below this nothing is to be told, so that counting costs one comparison. */
  #quietBelow: number | bigint

  constructor(options: IdCounterOptions = {}) {
    const { first = 1, ceiling = MAX_SAFE_ID } = options
    this.#ceiling = ceiling
    this.#onLevel = options.onLevel
    this.#last = typeof first === 'bigint' ? first - 1n : first - 1
    this.#quietBelow = typeof ceiling === 'bigint' ? (ceiling * 8n) / 10n : ceiling * 0.8
  }

  /** The highest id given so far; below the first one before any was given. */
  get last(): number | bigint {
    return this.#last
  }

  next(): Id {
    const last = this.#last
    if (last >= this.#ceiling) {
      throw new ChannelError('id-overflow', `the ids of this connection are used up at ${last}`)
    }
    this.#last = typeof last === 'bigint' || last >= MAX_SAFE_ID ? BigInt(last) + 1n : last + 1
    if (this.#last >= this.#quietBelow) this.#tell()
    return this.#last
  }

  #tell(): void {
    const level = idLevel(this.#last, this.#ceiling)
    if (level === this.#level) return
    this.#level = level
    this.#onLevel?.(level, this.#last)
  }
}
