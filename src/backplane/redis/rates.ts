import type { BucketRequest, SharedRates, TakenTokens } from '../shared-rates.ts'
import type { RedisEngine } from './engine.ts'
import { arrayReply, numberReply } from './replies.ts'
import { giveBackScript, slotsScript, takeScript } from './scripts/rate-scripts.ts'

/** Token buckets and slots in an engine. */
export class RedisRates implements SharedRates {
  readonly #engine: RedisEngine

  constructor(engine: RedisEngine) {
    this.#engine = engine
  }

  async take(buckets: readonly BucketRequest[]): Promise<TakenTokens> {
    const outcomes = await Promise.allSettled(buckets.map(bucket => this.#take(bucket)))
    const taken = outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value[0] : 0))
    if (taken.every(tokens => tokens > 0)) return { taken, waitMs: 0 }
    await this.#giveBack(buckets, taken)
    let waitMs = 0
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason
      waitMs = Math.max(waitMs, outcome.value[1])
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
    const args = [total, node, want, ttlMs]
    return numberReply(await this.#engine.run(slotsScript, [this.#engine.keys.slots(name)], args))
  }

  async #take(request: BucketRequest): Promise<readonly [tokens: number, waitMs: number]> {
    const { bucket, perSecond, burst, want, least } = request
    const args = [perSecond, burst, want, least]
    const reply = await this.#engine.run(takeScript, [this.#engine.keys.bucket(bucket)], args)
    const [tokens, waitMs] = arrayReply(reply)
    return [numberReply(tokens), numberReply(waitMs)]
  }

  /** Gives tokens back. If that fails they are lost, which never allows more than the limit. */
  async #giveBack(buckets: readonly BucketRequest[], taken: readonly number[]): Promise<void> {
    const returns = buckets.map(({ bucket, burst }, at) => {
      const tokens = taken[at] ?? 0
      if (tokens === 0) return undefined
      return this.#engine.run(giveBackScript, [this.#engine.keys.bucket(bucket)], [tokens, burst])
    })
    await Promise.allSettled(returns)
  }
}
