import { type BucketOperations, takeFromAll } from '../remote/several-buckets.ts'
import type { BucketRequest, SharedRates, TakenTokens } from '../shared-rates.ts'
import type { RedisEngine } from './engine.ts'
import { arrayReply, numberReply } from './replies.ts'
import { giveBackScript, slotsScript, takeScript } from './scripts/rate-scripts.ts'

/** Token buckets and slots in an engine. */
export class RedisRates implements SharedRates {
  readonly #engine: RedisEngine
  readonly #operations: BucketOperations

  constructor(engine: RedisEngine) {
    this.#engine = engine
    this.#operations = bucketOperations(engine)
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
    const args = [total, node, want, ttlMs]
    return numberReply(await this.#engine.run(slotsScript, [this.#engine.keys.slots(name)], args))
  }
}

function bucketOperations(engine: RedisEngine): BucketOperations {
  return {
    take: async ({ bucket, perSecond, burst, want, least }) => {
      const args = [perSecond, burst, want, least]
      const reply = await engine.run(takeScript, [engine.keys.bucket(bucket)], args)
      const [taken, waitMs] = arrayReply(reply)
      return { taken: numberReply(taken), waitMs: numberReply(waitMs) }
    },
    giveBack: ({ bucket, burst }, tokens) =>
      engine.run(giveBackScript, [engine.keys.bucket(bucket)], [tokens, burst]),
  }
}
