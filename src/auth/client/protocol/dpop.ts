import { type CryptoKey, type JWK, loadJose } from '../../jose.ts'
import { randomText, sha256 } from './encoding.ts'

/** The algorithm of the keys that this client makes. Every authorization server with DPoP supports it. */
export const dpopAlgorithm = 'ES256'

/** What a proof is for. */
export interface ProofRequest {
  readonly method: string
  readonly url: URL
  /** The access token that is sent with the proof; none at the token endpoint. */
  readonly accessToken?: string
}

/** The key to which the tokens of one authorization are bound, and the nonces that servers want in proofs (RFC 9449). */
export class DpopKey {
  /** The private key, to be stored with the tokens. */
  readonly jwk: JWK
  readonly #key: CryptoKey | Uint8Array
  readonly #public: JWK
  /** The last nonce of each origin: the server and the authorization server have nonces of their own. */
  readonly #nonces: ReceivedNonces

  private constructor(jwk: JWK, key: CryptoKey | Uint8Array, nonces: ReceivedNonces) {
    this.jwk = jwk
    this.#key = key
    this.#nonces = nonces
    const { kty, crv, x, y } = jwk
    this.#public = { kty, crv, x, y }
  }

  /** Makes a new key. */
  static async create(nonces: ReceivedNonces): Promise<DpopKey> {
    const { generateKeyPair, exportJWK } = await loadJose()
    const { privateKey } = await generateKeyPair(dpopAlgorithm, { extractable: true })
    return new DpopKey(await exportJWK(privateKey), privateKey, nonces)
  }

  /** Imports a stored key. Rejects if it is none. */
  static async from(jwk: JWK, nonces: ReceivedNonces): Promise<DpopKey> {
    const { importJWK } = await loadJose()
    return new DpopKey(jwk, await importJWK(jwk, dpopAlgorithm), nonces)
  }

  /** Signs a proof, which is good for one request. */
  async proof({ method, url, accessToken }: ProofRequest): Promise<string> {
    const { SignJWT } = await loadJose()
    const nonce = this.#nonces.get(url)
    const claims = {
      jti: randomText(),
      htm: method,
      htu: `${url.origin}${url.pathname}`,
      ...(nonce !== undefined && { nonce }),
      ...(accessToken !== undefined && { ath: await sha256(accessToken) }),
    }
    return new SignJWT(claims)
      .setProtectedHeader({ alg: dpopAlgorithm, typ: 'dpop+jwt', jwk: this.#public })
      .setIssuedAt()
      .sign(this.#key)
  }
}

/** The last nonce that each origin has given. */
export class ReceivedNonces {
  readonly #byOrigin = new Map<string, string>()

  get({ origin }: URL): string | undefined {
    return this.#byOrigin.get(origin)
  }

  /** Stores the nonce of a response, if it has one. Returns whether it is a new one. */
  learn({ origin }: URL, nonce: string | null): boolean {
    if (nonce === null || !/^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/.test(nonce)) return false
    if (this.#byOrigin.get(origin) === nonce) return false
    this.#byOrigin.set(origin, nonce)
    return true
  }
}
