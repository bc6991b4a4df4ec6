import type { Principal } from '../../../jsonrpc/channel.ts'
import { limits } from '../../../util/limits/limits.ts'
import { deepFreeze, memberAt } from '../../../util/objects.ts'
import { checkOptions, type OptionTableOf } from '../../../util/options.ts'
import { claimStrings, readJwt } from '../../documents/jwt-parts.ts'
import { issuerNetwork } from '../../network/issuer-network.ts'
import type { Network } from '../../network/network.ts'
import { InvalidToken, type TokenRequest, type Verifier } from '../verifier.ts'
import { confirmationOf } from './confirmation.ts'
import { checkSignature, secureAlgorithms } from './jwt-signature.ts'
import { KeySet } from './key-set.ts'

/** The options of `jwt`. */
export interface JwtOptions {
  /** The issuer, or several spellings of it, as the claim `iss` has them. */
  readonly issuer: string | readonly string[]
  /** The audiences, one of which the claim `aud` must contain; by default the resource of the listener. */
  readonly audience?: string | readonly string[]
  /** The URL of the key set, or the key set; by default the metadata of the issuer name it. */
  readonly jwks?:
    | string
    | {
        /** The keys, as JWKs. */
        readonly keys: readonly object[]
      }
  /** A shared secret of at least 32 bytes, instead of keys: for tokens signed with HS256, HS384 or HS512. */
  readonly secret?: Uint8Array
  /** The accepted signature algorithms; by default all asymmetric ones that are secure. */
  readonly algorithms?: readonly string[]
  /** The required `typ`; `'at+jwt'` accepts only tokens of RFC 9068. */
  readonly typ?: string
  /** Where the scopes are, if not in `scope` or `scp`. */
  readonly scopesFrom?: ClaimPath
  /** Where the roles are, such as `'realm_access.roles'`. */
  readonly rolesFrom?: ClaimPath
  /** How far clocks may differ, in milliseconds; 30 seconds by default, 5 minutes at most. */
  readonly clockSkewMs?: number
  /** The age at which a token is rejected, though it has not expired, in milliseconds. */
  readonly maxTokenAgeMs?: number
  /** How requests to the issuer are sent. */
  readonly network?: Network
  /** The time in milliseconds since 1970; for tests. */
  readonly now?: () => number
}

/** A path of member names such as `'realm_access.roles'`, or a function of the claims. */
export type ClaimPath = string | ((claims: Readonly<Record<string, unknown>>) => readonly string[])

const table: OptionTableOf<JwtOptions> = {
  issuer: 'any',
  audience: 'any',
  jwks: 'any',
  secret: 'object',
  algorithms: 'strings',
  typ: 'string',
  scopesFrom: 'any',
  rolesFrom: 'any',
  clockSkewMs: 'ms',
  maxTokenAgeMs: 'ms',
  network: 'function',
  now: 'function',
}

const symmetric = ['HS256', 'HS384', 'HS512']

/**
 * Verifies JSON Web Tokens of one issuer by its published keys (RFC 9068, RFC 8414). What the claims show
 * is checked before the signature, because a signature costs a hundred times more.
 */
export function jwt(options: JwtOptions): Verifier {
  checkOptions(options, table)
  const issuers = listOf(options.issuer)
  if (issuers.length === 0 || issuers.some(one => typeof one !== 'string' || !URL.canParse(one))) {
    throw new TypeError(
      'jwt() needs the URL of an issuer, such as { issuer: "https://as.example.com" }',
    )
  }
  const { now = Date.now, clockSkewMs = limits.clockSkewMs.default, secret } = options
  if (clockSkewMs > 300_000) throw new TypeError('option "clockSkewMs" must be at most 300000')
  if (secret !== undefined && secret.length < 32) {
    throw new TypeError('option "secret" must have at least 32 bytes')
  }
  const algorithms = algorithmsOf(options)
  const chosen = typeof options.jwks === 'string' ? [...issuers, options.jwks] : issuers
  const keySet =
    secret === undefined
      ? new KeySet({
          issuer: issuers[0] ?? '',
          jwks: options.jwks,
          network: options.network ?? issuerNetwork(chosen),
          now,
          onWithdrawn: keyId => own.onKeyWithdrawn?.(keyId),
        })
      : undefined
  const own: Verifier = {
    name: 'jwt',
    issuers,
    dpop: true,
    recognizes: token => {
      const parts = readJwt(token)
      return parts !== undefined && issuers.includes(String(parts.payload.iss))
    },
    verify: async (token, request) => {
      const parts = readJwt(token)
      if (parts === undefined) throw new InvalidToken('it is not a JSON Web Token')
      checkHeader(parts.header, algorithms, options.typ)
      const expiresAt = checkClaims(parts.payload, {
        issuers,
        audiences: audiencesOf(options, request),
        now,
        clockSkewMs,
        maxTokenAgeMs: options.maxTokenAgeMs,
      })
      const keyId = await checkSignature(token, parts.header, algorithms, keySet, secret)
      const principal = principalOf(parts.payload, expiresAt, options)
      return {
        principal,
        until: expiresAt + clockSkewMs,
        keyId,
        confirmation: confirmationOf(parts.payload),
      }
    },
    close: () => keySet?.close(),
  }
  return own
}

function algorithmsOf({ algorithms, secret }: JwtOptions): readonly string[] {
  const allowed = secret === undefined ? secureAlgorithms : symmetric
  for (const one of algorithms ?? []) {
    if (!allowed.includes(one)) {
      throw new TypeError(
        `option "algorithms": ${one} cannot be used with ${secret === undefined ? 'keys' : 'a secret'}`,
      )
    }
  }
  return algorithms ?? allowed
}

const accessTokenTypes = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt'])

function checkHeader(
  header: Readonly<Record<string, unknown>>,
  algorithms: readonly string[],
  typ: string | undefined,
): void {
  const type = typeof header.typ === 'string' ? header.typ.toLowerCase() : header.typ
  const isRight =
    typ === undefined
      ? accessTokenTypes.has(type as string | undefined)
      : type === typ.toLowerCase() || type === `application/${typ.toLowerCase()}`
  if (!isRight) throw new InvalidToken('its type is not that of an access token')
  if (typeof header.alg !== 'string' || !algorithms.includes(header.alg)) {
    throw new InvalidToken('its signature algorithm is not accepted')
  }
  if (header.crit !== undefined) throw new InvalidToken('it has critical headers')
}

interface ClaimRules {
  readonly issuers: readonly string[]
  readonly audiences: readonly string[]
  readonly now: () => number
  readonly clockSkewMs: number
  readonly maxTokenAgeMs: number | undefined
}

/** Checks the claims that need no key. Returns when the token expires, in milliseconds since 1970. */
function checkClaims(claims: Readonly<Record<string, unknown>>, rules: ClaimRules): number {
  const { iss, exp, nbf, iat } = claims
  if (typeof iss !== 'string' || !rules.issuers.includes(iss))
    throw new InvalidToken('its issuer is not trusted')
  const audiences = claimStrings(claims.aud)
  if (!audiences?.some(one => rules.audiences.includes(one)))
    throw new InvalidToken('it is meant for another audience')
  // An ID token says who has logged in. It is not for a resource server.
  if (claims.nonce !== undefined || claims.at_hash !== undefined)
    throw new InvalidToken('it is an ID token')
  const now = rules.now()
  if (!isTime(exp)) throw new InvalidToken('it has no expiry')
  const expiresAt = exp * 1000
  if (expiresAt + rules.clockSkewMs <= now)
    throw new InvalidToken('it has expired', { isExpired: true })
  if (nbf !== undefined && !(isTime(nbf) && nbf * 1000 <= now + rules.clockSkewMs))
    throw new InvalidToken('it is not valid yet')
  if (iat !== undefined && !(isTime(iat) && iat * 1000 <= now + rules.clockSkewMs))
    throw new InvalidToken('it was issued in the future')
  const { maxTokenAgeMs } = rules
  if (
    maxTokenAgeMs !== undefined &&
    !(isTime(iat) && iat * 1000 + maxTokenAgeMs + rules.clockSkewMs > now)
  ) {
    throw new InvalidToken('it is too old', { isExpired: true })
  }
  return expiresAt
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function principalOf(
  claims: Readonly<Record<string, unknown>>,
  expiresAt: number,
  options: JwtOptions,
): Principal {
  const issuer = String(claims.iss)
  const client = firstString(claims.client_id, claims.azp)
  const subject = firstString(claims.sub) ?? client
  if (subject === undefined) throw new InvalidToken('it names nobody')
  const scopes =
    options.scopesFrom === undefined ? scopesOf(claims) : claimAt(claims, options.scopesFrom)
  return Object.freeze({
    id: `${issuer} ${subject}`,
    issuer,
    subject,
    client,
    scopes: Object.freeze([...new Set(scopes)]),
    roles: Object.freeze([
      ...(options.rolesFrom === undefined ? [] : claimAt(claims, options.rolesFrom)),
    ]),
    claims: deepFreeze(structuredClone(claims)),
    expiresAt,
    verifier: 'jwt',
  })
}

/** The scopes of a token: `scope` is a text, `scp` a text or a list. */
function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): readonly string[] {
  const given = claimStrings(scope) ?? claimStrings(scp) ?? []
  return given.flatMap(text => text.split(' ')).filter(text => text !== '')
}

function claimAt(claims: Readonly<Record<string, unknown>>, path: ClaimPath): readonly string[] {
  if (typeof path === 'function') return path(claims)
  // A claim may have the whole path as its name, such as a URL.
  const value = memberAt(claims, path)
  return typeof value === 'string'
    ? value.split(' ').filter(text => text !== '')
    : (claimStrings(value) ?? [])
}

function audiencesOf({ audience }: JwtOptions, request: TokenRequest): readonly string[] {
  return audience === undefined ? request.audiences : listOf(audience)
}

function firstString(...values: readonly unknown[]): string | undefined {
  return values.find(value => typeof value === 'string' && value !== '') as string | undefined
}

function listOf<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? value : [value as T]
}
