import type { BucketRequest, SharedRates, TakenTokens } from '../shared-rates.ts'
import type { LocalEngine } from './engine.ts'
import { readState, writeState } from './state.ts'

/** Buckets and slots in the tables of a local engine. */
export class LocalRates implements SharedRates {
  readonly #engine: LocalEngine

  constructor(engine: LocalEngine) {
    this.#engine = engine
  }

  async take(buckets: readonly BucketRequest[]): Promise<TakenTokens> {
    return this.#engine.run(() => {
      const now = this.#engine.now()
      const levels = buckets.map(request => this.#level(request, now))
      const waits = buckets.map(({ least, perSecond }, at) => {
        return Math.max(0, Math.ceil(((least - (levels[at] ?? 0)) / perSecond) * 1000))
      })
      const waitMs = Math.max(0, ...waits)
      if (waitMs > 0) return { taken: buckets.map(() => 0), waitMs }
      const taken = buckets.map((request, at) => {
        const level = levels[at] ?? 0
        // Rounding may leave the level a trace below a whole number.
        const amount = Math.min(request.want, Math.max(request.least, Math.floor(level)))
        const fillMs = (request.burst / request.perSecond) * 1000
        const state = { tokens: level - amount, at: now }
        writeState(this.#engine, `b:${request.bucket}`, state, Math.ceil(fillMs * 2) + 1)
        return amount
      })
      return { taken, waitMs: 0 }
    })
  }

  async leaseSlots(
    name: string,
    total: number,
    node: string,
    want: number,
    ttlMs: number,
  ): Promise<number> {
    return this.#engine.run(() => {
      const now = this.#engine.now()
      const leases = readState<readonly SlotLease[]>(this.#engine, `s:${name}`) ?? []
      const others = leases.filter(lease => lease.node !== node && lease.until > now)
      const used = others.reduce((sum, lease) => sum + lease.slots, 0)
      const slots = Math.max(0, Math.min(want, total - used))
      const until = now + ttlMs
      const state = slots === 0 ? others : [...others, { node, slots, until }]
      const lastMs = Math.max(ttlMs, ...others.map(lease => Math.ceil(lease.until - now)))
      writeState(this.#engine, `s:${name}`, state, lastMs)
      return slots
    })
  }

  #level({ bucket, perSecond, burst }: BucketRequest, now: number): number {
    const state = readState<Bucket>(this.#engine, `b:${bucket}`)
    if (state === undefined) return burst
    const added = (Math.max(0, now - state.at) / 1000) * perSecond
    return Math.min(burst, state.tokens + added)
  }
}

interface Bucket {
  readonly tokens: number
  readonly at: number
}

interface SlotLease {
  readonly node: string
  readonly slots: number
  readonly until: number
}
