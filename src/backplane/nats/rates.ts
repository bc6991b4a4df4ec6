import { type BucketOperations, takeFromAll } from '../remote/several-buckets.ts'
import { type Bucket, type SlotLease, takenFrom, withLease } from '../rules/rates.ts'
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
  readonly #operations: BucketOperations

  constructor(options: NatsRatesOptions) {
    this.#options = options
    this.#operations = bucketOperations(options)
  }

  take(buckets: readonly BucketRequest[]): Promise<TakenTokens> {
    return takeFromAll(buckets, this.#operations)
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
}

function bucketOperations({ buckets, subjects }: NatsRatesOptions): BucketOperations {
  return {
    take: request =>
      buckets.update(subjects.bucket(request.bucket), (document, moment) => {
        const result = takenFrom(document?.value, request, moment)
        const { bucket, until, waitMs } = result
        return waitMs > 0 ? { result } : { result, next: { value: bucket, until } }
      }),
    giveBack: ({ bucket, burst }, back) =>
      buckets.update(subjects.bucket(bucket), document => {
        if (document === undefined) return { result: undefined }
        const { value, until } = document
        const tokens = Math.min(burst, value.tokens + back)
        return { result: undefined, next: { value: { ...value, tokens }, until } }
      }),
  }
}
