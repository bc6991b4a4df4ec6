import { isRecord } from '../../util/objects.ts'
import { AuthError } from '../auth-error.ts'
import { readScopes } from './scope.ts'

/** What a token endpoint has issued. */
export interface TokenResponse {
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
  /** Seconds until the token expires; undefined if the server does not say. */
  readonly expiresIn?: number
  readonly refreshToken?: string
  /** The granted scopes; undefined if they are those that were asked for. */
  readonly scopes?: readonly string[]
}

/** Returns the member `error` of an error response of an authorization server; undefined if it has none. */
export function errorIn(body: unknown): string | undefined {
  const error = isRecord(body) ? body.error : undefined
  return typeof error === 'string' && /^[\x20-\x7e]{1,100}$/.test(error) ? error : undefined
}

/**
 * Returns the description of an error, without control characters and cut at 200 characters, to be shown after
 * our own words; empty if there is none.
 */
export function descriptionIn(body: unknown): string {
  const text = isRecord(body) ? body.error_description : undefined
  if (typeof text !== 'string' || text === '') return ''
  return `: ${text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '').slice(0, 200)}`
}

/** Reads a successful token response. Throws an AuthError `'token'` for one that cannot be used. */
export function readTokenResponse(body: unknown): TokenResponse {
  const { issued, type } = readIssuedToken(body)
  const tokenType = tokenTypes.get(type.toLowerCase())
  if (tokenType === undefined)
    throw invalid(`"token_type" is ${JSON.stringify(type.slice(0, 50))} instead of Bearer or DPoP`)
  return { ...issued, tokenType }
}

/**
 * Reads the token of a token exchange that is no access token: an identity assertion for another authorization
 * server, whose `token_type` is `N_A` (RFC 8693). Throws an AuthError `'token'` for anything else.
 */
export function readExchangedAssertion(body: unknown, issuedType: string): string {
  const { issued } = readIssuedToken(body)
  if (!isRecord(body) || body.issued_token_type !== issuedType)
    throw invalid(`"issued_token_type" is not ${issuedType}`)
  return issued.accessToken
}

function readIssuedToken(body: unknown): {
  readonly issued: Omit<TokenResponse, 'tokenType'>
  readonly type: string
} {
  if (!isRecord(body)) throw invalid('it is no JSON object')
  const { access_token: accessToken, token_type: type, refresh_token: refreshToken } = body
  if (!isToken(accessToken)) throw invalid('"access_token" is missing or invalid')
  if (typeof type !== 'string') throw invalid('"token_type" is missing')
  if (isPresent(refreshToken) && !isToken(refreshToken)) throw invalid('"refresh_token" is invalid')
  const issued = {
    accessToken,
    expiresIn: secondsIn(body.expires_in),
    refreshToken: isToken(refreshToken) ? refreshToken : undefined,
    scopes: readScopes(body.scope),
  }
  return { issued, type }
}

const tokenTypes: ReadonlyMap<string, TokenResponse['tokenType']> = new Map([
  ['bearer', 'Bearer'],
  ['dpop', 'DPoP'],
])

/** Whether a value can be sent as a token: a line break would begin another header. */
function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

function secondsIn(value: unknown): number | undefined {
  if (!isPresent(value)) return undefined
  const seconds = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof seconds === 'number' && seconds >= 0) return seconds
  throw invalid('"expires_in" is not a number of seconds')
}

function invalid(why: string): AuthError {
  return new AuthError('token', `the response of the token endpoint is invalid: ${why}`)
}
