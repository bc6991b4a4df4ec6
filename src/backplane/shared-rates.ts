/** Rates and counts that limit all nodes together. */
export interface SharedRates {
  /**
   * Takes up to `want` tokens from each bucket, or none from any if one of them has fewer than `least`. The
   * tokens that all callers get never exceed the rate and the burst.
   */
  take(buckets: readonly BucketRequest[]): Promise<TakenTokens>
  /**
   * Leases up to `want` of `total` slots to a node, instead of those that it has, for `ttlMs`. Resolves to the
   * number it got.
   */
  leaseSlots(
    name: string,
    total: number,
    node: string,
    want: number,
    ttlMs: number,
  ): Promise<number>
}

/** A request for tokens of one bucket. */
export interface BucketRequest {
  /** The name of the bucket, which is full when it is first used. */
  readonly bucket: string
  /** The tokens that are added per second. */
  readonly perSecond: number
  /** The most tokens that the bucket holds. */
  readonly burst: number
  /** The number of tokens to take, if there are as many. */
  readonly want: number
  /** The number of tokens below which none are taken. */
  readonly least: number
}

/** The tokens that were taken. */
export interface TakenTokens {
  /** The tokens of each bucket, in the order of the requests; all 0 if nothing was taken. */
  readonly taken: readonly number[]
  /** The time until every bucket has its `least`; 0 if tokens were taken. */
  readonly waitMs: number
}
