import { exactly } from '../rules/moment.ts'
import { type Bucket, type SlotLease, takenFrom, withLease } from '../rules/rates.ts'
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
      const moment = exactly(this.#engine.now())
      const keys = buckets.map(({ bucket }) => `b:${bucket}`)
      const answers = buckets.map((request, at) =>
        takenFrom(readState<Bucket>(this.#engine, keys[at] ?? ''), request, moment),
      )
      const waitMs = Math.max(0, ...answers.map(answer => answer.waitMs))
      if (waitMs > 0) return { taken: buckets.map(() => 0), waitMs }
      for (const [at, { bucket, until }] of answers.entries()) {
        writeState(this.#engine, keys[at] ?? '', bucket, until)
      }
      return { taken: answers.map(({ taken }) => taken), waitMs: 0 }
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
      const moment = exactly(this.#engine.now())
      const stored = readState<readonly SlotLease[]>(this.#engine, `s:${name}`) ?? []
      const { leases, slots } = withLease(stored, { total, node, want, ttlMs }, moment)
      const until = Math.max(moment.most, ...leases.map(lease => lease.until))
      writeState(this.#engine, `s:${name}`, leases, until)
      return slots
    })
  }
}
