import type { Principal } from '../../../jsonrpc/channel.ts'
import { AuthError } from '../../auth-error.ts'
import { callerTokenOf } from '../../caller-tokens.ts'
import { claimStrings, readJwt } from '../../documents/jwt-parts.ts'
import type { TokenResponse } from '../../documents/token-response.ts'

/** The token of a caller, for which another token is wanted. */
export interface SubjectToken {
  /** The token of the caller. */
  readonly token: string
  /** When it expires, in milliseconds since 1970. No token that it is exchanged for is used longer. */
  readonly expiresAt?: number
}

/** Returns the token that a caller has presented. Throws an AuthError `'login-required'` if there is none. */
export function subjectTokenOf(principal: Principal): SubjectToken {
  const token = callerTokenOf(principal)
  const { expiresAt } = principal
  if (token !== undefined) return { token, ...(expiresAt !== undefined && { expiresAt }) }
  const words =
    'the caller has no token of an authorization server, which could be exchanged for another one'
  throw new AuthError('login-required', words)
}

/** Returns the audiences in a JSON Web Token, which is not verified; none if it is no such token. */
export function audiencesIn(token: string): readonly string[] {
  return claimStrings(readJwt(token)?.payload.aud) ?? []
}

/** Limits the lifetime of a token to that of the caller's. */
export function notLongerThan(
  tokens: TokenResponse,
  { expiresAt }: Pick<SubjectToken, 'expiresAt'>,
): TokenResponse {
  if (expiresAt === undefined) return tokens
  const leftSeconds = Math.max(0, (expiresAt - Date.now()) / 1000)
  const { expiresIn = leftSeconds } = tokens
  return { ...tokens, expiresIn: Math.min(expiresIn, leftSeconds) }
}
