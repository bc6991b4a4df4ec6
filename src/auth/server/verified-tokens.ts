import { limits } from '../../util/limits/limits.ts'
import type { VerifiedToken } from './verifier.ts'

/**
 * Caches verified tokens by their text. The same principal object is returned each time, so that what is
 * remembered of a caller stays valid. Bounded in number and in length; the least recently used is dropped.
 */
export class VerifiedTokens {
  readonly #maxTokens: number
  readonly #maxBytes: number
  readonly #tokens = new Map<string, VerifiedToken>()
  #bytes = 0

  constructor(
    maxTokens: number = limits.verifiedTokens.default,
    maxBytes: number = limits.verifiedTokenBytes.default,
  ) {
    this.#maxTokens = maxTokens
    this.#maxBytes = maxBytes
  }

  get size(): number {
    return this.#tokens.size
  }

  /** Returns a token that need not be verified again yet. */
  get(token: string, now: number): VerifiedToken | undefined {
    const known = this.#tokens.get(token)
    if (known === undefined) return undefined
    if (known.until !== undefined && known.until <= now) {
      this.#delete(token)
      return undefined
    }
    // Removed and added again, so that the least recently used token is the first. Rarely, because a
    // change of the map costs more than the rest.
    if (this.#tokens.size > this.#maxTokens / 2) {
      this.#tokens.delete(token)
      this.#tokens.set(token, known)
    }
    return known
  }

  add(token: string, verified: VerifiedToken): void {
    this.#delete(token)
    this.#tokens.set(token, verified)
    this.#bytes += token.length
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size <= this.#maxTokens && this.#bytes <= this.#maxBytes) break
      this.#delete(oldest)
    }
  }

  /** Drops the tokens that match, so that they are verified again, and returns them. */
  drop(matches: (verified: VerifiedToken) => boolean): readonly VerifiedToken[] {
    const dropped: VerifiedToken[] = []
    for (const [token, verified] of this.#tokens) {
      if (!matches(verified)) continue
      this.#delete(token)
      dropped.push(verified)
    }
    return dropped
  }

  #delete(token: string): void {
    if (this.#tokens.delete(token)) this.#bytes -= token.length
  }
}
