import { limits } from '../../util/limits/limits.ts'

interface Failures {
  count: number
  /** When counting begins anew, in milliseconds. */
  until: number
}

/**
 * Counts the invalid tokens of each client address, so that nobody can make the server verify any number
 * of forged ones.
 */
export class FailedTokens {
  readonly #now: () => number
  readonly #addresses = new Map<string, Failures>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Returns how long an address must wait, in milliseconds; 0 if it need not. */
  waitMs(address: string | undefined): number {
    const known = address === undefined ? undefined : this.#addresses.get(address)
    if (known === undefined || known.count < limits.tokenFailures.default) return 0
    return Math.max(0, known.until - this.#now())
  }

  /** Counts an invalid token. */
  add(address: string | undefined): void {
    if (address === undefined) return
    const now = this.#now()
    const known = this.#addresses.get(address)
    const current = known !== undefined && known.until > now
    this.#addresses.delete(address)
    this.#addresses.set(address, {
      count: current ? known.count + 1 : 1,
      until: current ? known.until : now + limits.tokenFailuresMs.default,
    })
    const [oldest] = this.#addresses.keys()
    if (this.#addresses.size > limits.tokenFailureAddresses.default && oldest !== undefined) {
      this.#addresses.delete(oldest)
    }
  }
}
