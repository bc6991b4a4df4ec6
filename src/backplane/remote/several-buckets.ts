import type { BucketRequest, TakenTokens } from '../shared-rates.ts'

/** How an engine changes one bucket. */
export interface BucketOperations {
  /** Takes tokens of a bucket; 0 if there are fewer than the least, and then the time until there are enough. */
  take(request: BucketRequest): Promise<{ readonly taken: number; readonly waitMs: number }>
  /** Gives tokens back to a bucket. */
  giveBack(request: BucketRequest, tokens: number): Promise<unknown>
}

/**
 * Takes tokens of several buckets that an engine can only change one by one: if one of them has too few, what the
 * others gave is given back. If that fails the tokens are lost, which never allows more than the limit.
 */
export async function takeFromAll(
  buckets: readonly BucketRequest[],
  { take, giveBack }: BucketOperations,
): Promise<TakenTokens> {
  const outcomes = await Promise.allSettled(buckets.map(take))
  const taken = outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value.taken : 0))
  if (taken.every(tokens => tokens > 0)) return { taken, waitMs: 0 }
  const returns = buckets.map((bucket, at) => {
    const tokens = taken[at] ?? 0
    return tokens > 0 ? giveBack(bucket, tokens) : undefined
  })
  await Promise.allSettled(returns)
  let waitMs = 0
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') throw outcome.reason
    waitMs = Math.max(waitMs, outcome.value.waitMs)
  }
  return { taken: buckets.map(() => 0), waitMs }
}
