import { randomText } from '../../auth/client/protocol/encoding.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import { limits } from '../../util/limits/limits.ts'
import { OAuthProblem } from './oauth-response.ts'
import type { DevUser } from './options.ts'

/** What a user, or a client for itself, is authorized for. */
export interface DevGrant {
  readonly clientId: string
  readonly sub: string
  readonly roles: readonly string[] | undefined
  readonly scopes: readonly string[]
  /** The server that tokens are for. */
  readonly resource: string
  /** The nonce of the authorization request, for ID tokens. */
  readonly nonce?: string | undefined
  /** The thumbprint of the key that refresh tokens are bound to. */
  jkt?: string | undefined
  /** Whether the grant has ended, because it was revoked or one of its tokens was used twice. */
  isEnded: boolean
}

/** An authorization code, until it is redeemed. */
export interface AuthorizationCode {
  readonly grant: DevGrant
  readonly redirectUri: string
  readonly challenge: string
  readonly expiresAt: number
  isUsed: boolean
}

/** Keeps the codes, refresh tokens and revoked access tokens of an issuer. */
export class Grants {
  readonly #codes = newMap<AuthorizationCode>()
  readonly #refreshTokens = newMap<{ readonly grant: DevGrant; isUsed: boolean }>()
  /** The grants of access tokens, by their `jti`. */
  readonly #accessTokens = newMap<{ readonly grant: DevGrant; isRevoked: boolean }>()

  /** Issues a code. */
  addCode(code: Omit<AuthorizationCode, 'isUsed'>): string {
    const text = randomText()
    this.#codes.set(text, { ...code, isUsed: false }, 0)
    return text
  }

  /** Redeems a code once. The second use ends its grant, because one of the two users has stolen it. */
  redeem(code: string, now: number): AuthorizationCode {
    const found = this.#codes.get(code)
    if (found?.isUsed === true) found.grant.isEnded = true
    if (found === undefined || found.isUsed || found.expiresAt <= now)
      throw new OAuthProblem('invalid_grant', 'the code is unknown, expired, or was used before')
    found.isUsed = true
    return found
  }

  /** Issues a refresh token. */
  addRefreshToken(grant: DevGrant): string {
    const text = randomText()
    this.#refreshTokens.set(text, { grant, isUsed: false }, 0)
    return text
  }

  /** Returns the grant of a refresh token. The use of one that was replaced ends the grant. */
  grantOf(refreshToken: string, clientId: string): DevGrant {
    const found = this.#refreshTokens.get(refreshToken)
    if (found?.isUsed === true) found.grant.isEnded = true
    if (found === undefined || found.grant.isEnded || found.grant.clientId !== clientId)
      throw new OAuthProblem('invalid_grant', 'the refresh token is unknown, revoked, or replaced')
    return found.grant
  }

  /** Marks a refresh token as replaced. */
  replace(refreshToken: string): void {
    const found = this.#refreshTokens.get(refreshToken)
    if (found !== undefined) found.isUsed = true
  }

  /** Remembers to which grant an access token belongs. */
  addAccessToken(jti: string, grant: DevGrant): void {
    this.#accessTokens.set(jti, { grant, isRevoked: false }, 0)
  }

  /** Whether an access token was issued by a request, and neither it nor its grant was revoked. */
  isActive(jti: string | undefined): boolean {
    const found = this.#accessTokens.get(jti ?? '')
    return found !== undefined && !found.isRevoked && !found.grant.isEnded
  }

  /** Revokes a refresh token with its whole grant, or one access token by its `jti`. */
  revoke(token: string, jti: string | undefined, clientId: string): void {
    const refresh = this.#refreshTokens.get(token)
    if (refresh?.grant.clientId === clientId) refresh.grant.isEnded = true
    const access = this.#accessTokens.get(jti ?? '')
    if (access?.grant.clientId === clientId) access.isRevoked = true
  }
}

/** Scopes that are between client and issuer, and mean nothing to servers. */
export const issuerScopes: readonly string[] = ['openid', 'offline_access']

/** Returns the scopes of a request that a user may grant. */
export function grantedScopes(asked: readonly string[], user: DevUser): readonly string[] {
  const { scopes } = user
  if (scopes === undefined) return asked
  return asked.filter(scope => scopes.includes(scope) || issuerScopes.includes(scope))
}

function newMap<V>(): BoundedMap<V> {
  return new BoundedMap(limits.devIssuerEntries.default, Number.POSITIVE_INFINITY)
}
