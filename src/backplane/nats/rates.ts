import {
  type Bucket,
  type BucketAnswer,
  type SlotLease,
  takenFrom,
  withLease,
} from '../rules/rates.ts'
import type { BucketRequest, SharedRates, TakenTokens } from '../shared-rates.ts'
import type { Documents } from './documents.ts'
import type { NatsSubjects } from './engine/subjects.ts'

/** What rates need. */
export interface NatsRatesOptions {
  readonly buckets: Documents<Bucket>
  readonly slots: Documents<readonly SlotLease[]>
  readonly subjects: NatsSubjects
}

/** Token buckets and slots in an engine: each is one document. */
export class NatsRates implements SharedRates {
  readonly #options: NatsRatesOptions

  constructor(options: NatsRatesOptions) {
    this.#options = options
  }

  async take(buckets: readonly BucketRequest[]): Promise<TakenTokens> {
    const outcomes = await Promise.allSettled(buckets.map(bucket => this.#take(bucket)))
    const taken = outcomes.map(outcome =>
      outcome.status === 'fulfilled' ? outcome.value.taken : 0,
    )
    if (taken.every(tokens => tokens > 0)) return { taken, waitMs: 0 }
    await this.#giveBack(buckets, taken)
    let waitMs = 0
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason
      waitMs = Math.max(waitMs, outcome.value.waitMs)
    }
    return { taken: buckets.map(() => 0), waitMs }
  }

  async leaseSlots(
    name: string,
    total: number,
    node: string,
    want: number,
    ttlMs: number,
  ): Promise<number> {
    const { slots: documents, subjects } = this.#options
    return documents.update(subjects.slots(name), (document, moment) => {
      const request = { total, node, want, ttlMs }
      const { leases, slots } = withLease(document?.value ?? [], request, moment)
      const until = Math.max(0, ...leases.map(lease => lease.until))
      return { result: slots, next: { value: leases, until } }
    })
  }

  #take(request: BucketRequest): Promise<BucketAnswer> {
    const { buckets, subjects } = this.#options
    return buckets.update(subjects.bucket(request.bucket), (document, moment) => {
      const result = takenFrom(document?.value, request, moment)
      const { bucket, until, waitMs } = result
      return waitMs > 0 ? { result } : { result, next: { value: bucket, until } }
    })
  }

  /** Gives tokens back. If that fails they are lost, which never allows more than the limit. */
  async #giveBack(buckets: readonly BucketRequest[], taken: readonly number[]): Promise<void> {
    const { buckets: documents, subjects } = this.#options
    const returns = buckets.map(({ bucket, burst }, at) => {
      const back = taken[at] ?? 0
      if (back === 0) return undefined
      return documents.update(subjects.bucket(bucket), document => {
        if (document === undefined) return { result: undefined }
        const { value, until } = document
        const tokens = Math.min(burst, value.tokens + back)
        return { result: undefined, next: { value: { ...value, tokens }, until } }
      })
    })
    await Promise.allSettled(returns)
  }
}
