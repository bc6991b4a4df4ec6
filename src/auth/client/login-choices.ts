import { AuthError } from '../auth-error.ts'
import type { TokenChallenge } from '../documents/challenge.ts'
import { unionOfScopes } from '../documents/scope.ts'
import type { OAuthSettings } from './options.ts'
import type { Discovery } from './protocol/discovery.ts'
import { dpopAlgorithm } from './protocol/dpop.ts'

/**
 * Returns the scopes to ask for: those of the challenge, or else all that the server names, and those of the
 * options. What the authorization server supports says nothing about what this server needs.
 */
export function scopesFor(
  { scopes, scopesAllowed, offline }: Pick<OAuthSettings, 'scopes' | 'scopesAllowed' | 'offline'>,
  { scopesSupported, metadata }: Discovery,
  challenge: TokenChallenge | undefined,
): readonly string[] {
  const named = challenge?.scopes ?? scopesSupported
  const wanted = unionOfScopes(named, scopes)
  const allowed =
    scopesAllowed === undefined ? wanted : wanted.filter(scope => scopesAllowed.includes(scope))
  const isOffline = offline && metadata.scopesSupported?.includes('offline_access') === true
  return isOffline ? unionOfScopes(allowed, ['offline_access']) : allowed
}

/** Whether tokens are to be bound to a key. Throws an AuthError `'unsupported'` if they must be and cannot. */
export function isBoundToKey(
  { dpop }: Pick<OAuthSettings, 'dpop'>,
  { requiresDpop, metadata }: Discovery,
  challenge: TokenChallenge | undefined,
): boolean {
  const isRequired =
    requiresDpop || (challenge?.acceptsDpop === true && challenge.acceptsBearer === false)
  if (dpop === 'never' || (dpop === 'auto' && !isRequired)) return false
  if (metadata.dpopAlgorithms?.includes(dpopAlgorithm)) return true
  const { issuer } = metadata
  const words = `${issuer} does not issue tokens that are bound to a key (DPoP with ${dpopAlgorithm})`
  throw new AuthError('unsupported', words, { issuer })
}
