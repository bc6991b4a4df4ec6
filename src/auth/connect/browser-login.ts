import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { AuthError } from '../auth-error.ts'
import { KnownServer } from '../client/caller/known-server.ts'
import type { OAuthClient } from '../client/protocol/client-authentication.ts'
import { ReceivedNonces } from '../client/protocol/dpop.ts'
import { isEqualSecret, randomText, sha256 } from '../client/protocol/encoding.ts'
import { requestGrant } from '../client/protocol/token-request.ts'
import { claimStrings, readJwt } from '../documents/jwt-parts.ts'
import { GuardedNetwork } from '../network/guarded-network.ts'
import { issuerNetwork } from '../network/issuer-network.ts'
import { InvalidToken } from '../server/verifier.ts'
import { checkSignature, secureAlgorithms } from '../server/verifiers/jwt-signature.ts'
import { KeySet } from '../server/verifiers/key-set.ts'

/** How browsers log in at the authorization server of the callers, with OpenID Connect. */
export interface BrowserLoginOptions {
  /** The issuer, which has also issued the tokens of the callers. */
  readonly issuer: string
  /** The client id of the router there. */
  readonly clientId: string
  /** The client secret of the router there, if it has one. */
  readonly clientSecret?: string
}

/** A login of a browser that waits for the user. Secret. */
export interface PendingBrowserLogin {
  readonly state: string
  readonly verifier: string
  readonly nonce: string
  readonly redirectUri: string
}

/** Who has logged in. */
export interface BrowserUser {
  readonly issuer: string
  readonly subject: string
}

/** Finds out which user a browser belongs to: a login at the authorization server of the callers. */
export class BrowserLogin {
  readonly #issuer: string
  readonly #client: OAuthClient
  readonly #server: KnownServer
  // The operator has chosen this authorization server, wherever it is.
  readonly #network = new GuardedNetwork({ reach: 'loopback' })
  readonly #keys: KeySet

  constructor({ issuer, clientId, clientSecret }: BrowserLoginOptions) {
    this.#issuer = issuer
    this.#client = { clientId, ...(clientSecret !== undefined && { clientSecret }) }
    this.#server = new KnownServer({ issuer, tokenEndpoint: undefined })
    this.#keys = new KeySet({
      issuer,
      jwks: undefined,
      network: issuerNetwork([issuer]),
      now: Date.now,
      onWithdrawn: () => {},
    })
  }

  /** Begins a login. Resolves to the page to send the browser to. Rejects with an AuthError. */
  async begin(
    redirectUri: string,
  ): Promise<{ readonly url: URL; readonly pending: PendingBrowserLogin }> {
    const { authorizationEndpoint } = await this.#server.metadata(this.#network)
    if (authorizationEndpoint === undefined)
      throw new AuthError('unsupported', `${this.#issuer} has no page to log in`)
    const pending = {
      state: randomText(),
      verifier: randomText(),
      nonce: randomText(),
      redirectUri,
    }
    const url = new URL(authorizationEndpoint)
    const query = {
      response_type: 'code',
      client_id: this.#client.clientId,
      redirect_uri: redirectUri,
      scope: 'openid',
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await sha256(pending.verifier),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return { url, pending }
  }

  /** Finishes a login with the query that the browser has returned with. Rejects with an AuthError. */
  async finish(pending: PendingBrowserLogin, query: URLSearchParams): Promise<BrowserUser> {
    const metadata = await this.#server.metadata(this.#network)
    const issuers = query.getAll('iss')
    const isMissing = metadata.sendsIssuer && issuers.length === 0
    if (isMissing || issuers.some(found => found !== metadata.issuer))
      throw new AuthError('issuer-mismatch', `the answer does not come from ${this.#issuer}`)
    const [code, ...more] = query.getAll('code')
    if (code === undefined || more.length > 0 || query.has('error'))
      throw new AuthError('denied', `${this.#issuer} has refused the login`)
    const answer = await requestGrant({
      network: this.#network,
      metadata,
      client: this.#client,
      form: {
        grant_type: 'authorization_code',
        code,
        redirect_uri: pending.redirectUri,
        code_verifier: pending.verifier,
      },
      nonces: new ReceivedNonces(),
      signal: undefined,
    })
    const idToken = isRecord(answer) ? answer.id_token : undefined
    if (typeof idToken !== 'string' || idToken.length > limits.tokenBytes.default)
      throw new AuthError('token', `${this.#issuer} returned no ID token`)
    return this.#userIn(idToken, pending)
  }

  /** Verifies an ID token (OpenID Connect Core, section 3.1.3.7). */
  async #userIn(token: string, { nonce }: PendingBrowserLogin): Promise<BrowserUser> {
    const parts = readJwt(token)
    if (parts === undefined) throw invalid('it is not a JSON Web Token')
    const { iss, sub, aud, azp, exp, nonce: found } = parts.payload
    if (iss !== this.#issuer) throw invalid('it comes from another issuer')
    const audiences = claimStrings(aud) ?? []
    const { clientId } = this.#client
    if (!audiences.includes(clientId) || (audiences.length > 1 && azp !== clientId))
      throw invalid('it is meant for another client')
    if (typeof exp !== 'number' || exp * 1000 + limits.clockSkewMs.default <= Date.now())
      throw invalid('it has expired')
    if (typeof found !== 'string' || !isEqualSecret(found, nonce))
      throw invalid('it belongs to another login')
    if (typeof sub !== 'string' || sub === '') throw invalid('it names nobody')
    await checkSignature(token, parts.header, secureAlgorithms, this.#keys, undefined).catch(
      cause => {
        throw cause instanceof InvalidToken ? invalid(cause.message) : cause
      },
    )
    return { issuer: iss, subject: sub }
  }
}

function invalid(why: string): AuthError {
  return new AuthError('token', `the ID token is invalid: ${why}`)
}
