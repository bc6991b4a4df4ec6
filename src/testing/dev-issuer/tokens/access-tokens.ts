import { randomText } from '../../../auth/client/protocol/encoding.ts'
import { loadJose } from '../../../auth/jose.ts'
import type { DevIssuerSettings, IdentityProviderKeys } from '../options.ts'
import type { SigningKey } from './signing-key.ts'
import { type FaultKeys, forgeToken, type TokenFault } from './token-faults.ts'

/** What a token says, for {@link DevIssuer.token}. */
export interface DevTokenOptions {
  /** The user; `ada` by default. */
  readonly sub?: string
  /** The scopes; none by default. */
  readonly scopes?: readonly string[]
  /** The roles, as the claim `roles`; by default those of the user. */
  readonly roles?: readonly string[]
  /** The server that the token is for: the address of the listener. Required unless the issuer has a default. */
  readonly audience?: string | readonly string[]
  /** How long the token is valid, in seconds. A negative number makes one that has expired. */
  readonly expiresIn?: number
  /** The client to which the token was issued. */
  readonly client?: string
  /** The thumbprint of the key that the token is bound to (RFC 9449). */
  readonly jkt?: string
  /** Further claims, and other values for the usual ones; undefined leaves one out. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Other values for the members of the header; undefined leaves one out. */
  readonly header?: Readonly<Record<string, unknown>>
  /** Makes a token that is wrong in this way. */
  readonly fault?: TokenFault
}

type Claims = Readonly<Record<string, unknown>>

/** Makes and reads the tokens of an issuer. */
export class AccessTokens {
  readonly issuer: string
  readonly #settings: DevIssuerSettings
  readonly #keys: FaultKeys

  constructor(issuer: string, settings: DevIssuerSettings, keys: FaultKeys) {
    this.issuer = issuer
    this.#settings = settings
    this.#keys = keys
  }

  /** The key that signs tokens. */
  get key(): SigningKey {
    return this.#keys.own
  }

  /** Makes a token. Rejects with a TypeError without an audience. */
  async make(options: DevTokenOptions = {}): Promise<string> {
    const { audience = this.#settings.audience, fault, claims = {}, header = {} } = options
    if (audience === undefined && !Object.hasOwn(claims, 'aud')) {
      const why = 'token() needs "audience", such as the address of the listener'
      throw new TypeError(`${why}; or set it once: devIssuer({ audience })`)
    }
    const seconds = Math.floor(this.#settings.now() / 1000)
    const { sub = 'ada', scopes = [], expiresIn = this.#settings.expiresIn, client, jkt } = options
    const roles = options.roles ?? this.#settings.users.find(user => user.sub === sub)?.roles
    const token = {
      header: { typ: 'at+jwt', ...header },
      claims: {
        iss: this.issuer,
        sub,
        aud: audience,
        iat: expiresIn < 0 ? seconds + expiresIn : seconds,
        exp: seconds + expiresIn,
        jti: randomText(),
        client_id: client,
        scope: scopes.length === 0 ? undefined : scopes.join(' '),
        roles,
        cnf: jkt === undefined ? undefined : { jkt },
        ...claims,
      },
    }
    if (fault !== undefined) return forgeToken(fault, token, this.#keys, seconds)
    return this.#keys.own.sign(token.header, token.claims)
  }

  /** Makes an ID token, for clients that ask for the scope `openid`. */
  makeIdToken(sub: string, clientId: string, nonce: string | undefined): Promise<string> {
    const iat = Math.floor(this.#settings.now() / 1000)
    const exp = iat + this.#settings.expiresIn
    return this.key.sign({ typ: 'JWT' }, { iss: this.issuer, sub, aud: clientId, iat, exp, nonce })
  }

  /** Verifies a token of this issuer. Resolves to its claims; undefined if it is invalid or has expired. */
  read(token: string): Promise<Claims | undefined> {
    return this.readOf(token, this.#published, { typ: 'at+jwt' })
  }

  /** Verifies an ID token of this issuer for a client, as {@link read} does. */
  readIdToken(token: string, clientId: string): Promise<Claims | undefined> {
    return this.readOf(token, this.#published, { typ: 'JWT', audience: clientId })
  }

  /** Verifies a token of any issuer by its keys, as {@link read} does. */
  async readOf(
    token: string,
    { issuer, jwks }: IdentityProviderKeys,
    rules: { readonly typ: string; readonly audience?: string },
  ): Promise<Claims | undefined> {
    const { jwtVerify, createLocalJWKSet } = await loadJose()
    const keys = createLocalJWKSet({ keys: [...jwks.keys] })
    const currentDate = new Date(this.#settings.now())
    const verified = await jwtVerify(token, keys, { issuer, currentDate, ...rules }).catch(
      () => undefined,
    )
    return verified?.payload
  }

  get #published(): IdentityProviderKeys {
    return { issuer: this.issuer, jwks: { keys: [this.key.jwk] } }
  }
}
