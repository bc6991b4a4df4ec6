import { toBase64Url } from '../../../util/crypto/base64url.ts'
import { limits } from '../../../util/limits/limits.ts'

/**
 * Makes and checks DPoP nonces. A nonce is a keyed hash of the current period, so nothing is stored: that of
 * the current and that of the last period are accepted.
 */
export class DpopNonces {
  readonly #key: Promise<CryptoKey>
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
    this.#key = crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  }

  /** Returns the nonce for new proofs. */
  current(): Promise<string> {
    return this.#nonceOf(this.#period())
  }

  async accepts(nonce: string): Promise<boolean> {
    const period = this.#period()
    return nonce === (await this.#nonceOf(period)) || nonce === (await this.#nonceOf(period - 1))
  }

  /** Whether clients should get the next nonce, because the current one is about to end. */
  get isEnding(): boolean {
    const length = limits.dpopNonceMs.default
    return this.#now() % length > length * 0.8
  }

  #period(): number {
    return Math.floor(this.#now() / limits.dpopNonceMs.default)
  }

  async #nonceOf(period: number): Promise<string> {
    const text = new TextEncoder().encode(`dpop nonce ${period}`)
    const hash = new Uint8Array(await crypto.subtle.sign('HMAC', await this.#key, text), 0, 16)
    return toBase64Url(hash)
  }
}

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>
