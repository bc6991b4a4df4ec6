/** How delays between attempts grow. */
export interface BackoffOptions {
  /** The upper bound of the first delay, in milliseconds. */
  readonly baseMs: number
  /** The upper bound of every delay, in milliseconds. */
  readonly maxMs: number
  /**
   * The share of a delay that is random, from 0 to 1; 1 by default ("full jitter"). Jitter keeps
   * clients that lost the same server from returning together.
   */
  readonly jitter?: number
  /** Returns a number from 0 (included) to 1 (excluded); `Math.random` by default. */
  readonly random?: () => number
}

/**
 * Returns the delay before an attempt, counted from 0, in milliseconds: exponential backoff with
 * jitter. The upper bound doubles with each attempt, from `baseMs` to `maxMs`.
 */
export function backoffMs(attempt: number, options: BackoffOptions): number {
  const { baseMs, maxMs, jitter = 1, random = Math.random } = options
  // More doublings would reach Infinity, which times a base of 0 is NaN.
  const limitMs = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 52))
  return limitMs * (1 - jitter + jitter * random())
}
