import { limits } from '../../util/limits/limits.ts'
import { TokenBucket } from '../../util/time/token-bucket.ts'
import { shortHash } from './hash.ts'

/** The rate of a limit: of this process alone, or of all routers of a cluster. */
export interface RateLimit {
  /** Takes a token; returns false if there is none. */
  take(): boolean
  /** Milliseconds until there is a token; 0 if there is one. Takes nothing. */
  waitMs(): number
}

/** A request for tokens of a bucket that routers share. */
export interface SharedTokenRequest {
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

/** The tokens that were taken of shared buckets. */
export interface SharedTokenGrant {
  /** The tokens of each bucket, in the order of the requests. */
  readonly taken: readonly number[]
  /** The time until there are enough, in milliseconds; 0 if tokens were taken. */
  readonly waitMs: number
}

/** The token buckets that all routers of a cluster share, such as those of a backplane. */
export interface SharedBuckets {
  /** The number of routers, this one included. */
  nodes(): number
  /**
   * Takes up to `want` tokens from each bucket, or none from any if one of them has fewer than `least`. Rejects if the
   * engine cannot be reached.
   */
  take(buckets: readonly SharedTokenRequest[]): Promise<SharedTokenGrant>
}

/**
 * The rate of a limit that all routers of a cluster share. It leases a few tokens at a time, so that most calls need no
 * request to the engine, and drops those that are not used soon. While the engine cannot be reached, it allows the
 * share of this router: never more than the limit in all, and never nothing.
 */
export class SharedRate implements RateLimit {
  readonly #bucket: string
  readonly #perSecond: number
  readonly #burst: number
  readonly #shared: SharedBuckets
  readonly #now: () => number
  /** The number of calls that wait for tokens. */
  waiting = 0
  #tokens = 0
  #expiresAt = 0
  /** Until when there is certainly no token. */
  #emptyUntil = 0
  #asking: Promise<void> | undefined
  /** Replaces the engine while that cannot be reached. */
  #alone: TokenBucket | undefined
  #aloneUntil = 0

  constructor(
    bucket: string,
    rate: { readonly perSecond: number; readonly burst: number },
    shared: SharedBuckets,
    now: () => number,
  ) {
    this.#bucket = bucket
    this.#perSecond = rate.perSecond
    this.#burst = rate.burst
    this.#shared = shared
    this.#now = now
  }

  /** Whether only the engine knows if there is a token. */
  get isUnknown(): boolean {
    const now = this.#now()
    return !this.#hasTokens(now) && now >= this.#emptyUntil && now >= this.#aloneUntil
  }

  take(): boolean {
    const now = this.#now()
    if (this.#hasTokens(now)) {
      this.#tokens--
      return true
    }
    return now < this.#aloneUntil && (this.#alone?.take() ?? false)
  }

  waitMs(): number {
    const now = this.#now()
    if (this.#hasTokens(now)) return 0
    if (now < this.#aloneUntil) return this.#alone?.waitMs() ?? 0
    return Math.max(this.#emptyUntil - now, 1000 / this.#perSecond)
  }

  /**
   * Asks the engine for tokens, once for all calls that wait. Never rejects. The tokens may be gone when a call
   * continues, because others took them: then `isUnknown` is true again.
   */
  fill(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  /** Leases tokens: for all calls that wait, and at least for a short time at the rate of this router. */
  async #ask(): Promise<void> {
    const [bucket, perSecond, burst] = [this.#bucket, this.#perSecond, this.#burst]
    const share = (perSecond * limits.leasedRateMs.default) / 1000 / this.#shared.nodes()
    const want = Math.min(burst, Math.max(1, Math.ceil(share), this.waiting))
    try {
      const request = { bucket, perSecond, burst, want, least: 1 }
      const { taken, waitMs } = await this.#shared.take([request])
      this.#leased(taken[0] ?? 0, waitMs)
    } catch {
      this.#useShare()
    }
  }

  #leased(tokens: number, waitMs: number): void {
    const now = this.#now()
    this.#alone = undefined
    this.#aloneUntil = 0
    if (tokens === 0) {
      this.#emptyUntil = now + waitMs
    } else {
      this.#tokens = tokens
      this.#expiresAt = now + limits.leasedTokensMs.default
    }
  }

  /** Uses the share of this router for a while, because the engine cannot be reached. */
  #useShare(): void {
    const nodes = this.#shared.nodes()
    const burst = Math.max(1, this.#burst / nodes)
    this.#alone ??= new TokenBucket(burst, this.#perSecond / nodes, this.#now)
    this.#aloneUntil = this.#now() + limits.leasedTokensMs.default
  }

  #hasTokens(now: number): boolean {
    return this.#tokens >= 1 && now < this.#expiresAt
  }
}

/** Returns the name of a bucket: of a limit, and of what it applies to. Names of any length stay apart. */
export function bucketName(...parts: readonly string[]): string {
  const name = `limit ${JSON.stringify(parts)}`
  if (name.length <= maxNameLength) return name
  return `${name.slice(0, maxNameLength).toWellFormed()} ${shortHash(name)}`
}

/** Short enough in any encoding. */
const maxNameLength = 120
