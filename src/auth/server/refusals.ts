import type { Authentication, AuthHeaders, AuthRefusal } from '../../mcp/authenticator.ts'
import type { ErrorKind } from '../../mcp/errors/table.ts'
import { type ChallengeParameters, challengeHeaders } from './challenge.ts'
import type { GuardedResources } from './protected-resource.ts'

/**
 * Makes the responses to requests that are refused. Their texts are fixed: a caller learns neither claims,
 * nor keys, nor what was expected. The reason is for operators alone.
 */
export class AuthRefusals {
  readonly #resources: GuardedResources
  readonly #schemes: {
    readonly dpop: 'accept' | 'require' | false
    readonly algorithms: readonly string[]
  }
  readonly #scopes: readonly string[]
  readonly #reasons = new WeakMap<AuthRefusal, string>()

  constructor(
    resources: GuardedResources,
    schemes: {
      readonly dpop: 'accept' | 'require' | false
      readonly algorithms: readonly string[]
    },
    scopes: readonly string[] = [],
  ) {
    this.#resources = resources
    this.#schemes = schemes
    this.#scopes = scopes
  }

  /** Why a request was refused, for operators. */
  reasonOf(refusal: AuthRefusal): string {
    return this.#reasons.get(refusal) ?? refusal.message
  }

  /** Returns a refusal whose challenge names the metadata of the resource that is known at a path. */
  at<T extends Authentication>(path: string, outcome: T): T {
    if (outcome.status === undefined) return outcome
    const [url, main] = [this.#resources.metadataUrl(path), this.#resources.metadataUrl('')]
    const challenge = outcome.headers['www-authenticate']
    if (url === undefined || main === undefined || url === main || challenge === undefined)
      return outcome
    const renamed = challenge.replace(`"${main}"`, `"${url}"`)
    return { ...outcome, headers: { ...outcome.headers, 'www-authenticate': renamed } }
  }

  /** No token, or one of another scheme. The challenge has no error (RFC 6750, section 3.1). */
  missing(reason: string, scopes: readonly string[] = this.#scopes): AuthRefusal {
    const headers = this.#challenge({ scope: scopes.join(' ') })
    return this.#make(401, headers, 'authentication_failed', 'Authentication required', reason)
  }

  malformed(reason: string): AuthRefusal {
    const headers = this.#challenge({ error: 'invalid_request' })
    return this.#make(400, headers, 'invalid_credentials', 'Invalid credentials', reason)
  }

  invalid(reason: string, scheme?: 'dpop'): AuthRefusal {
    const headers = this.#challenge(
      {
        error: 'invalid_token',
        description: 'the token is invalid',
        scope: this.#scopes.join(' '),
      },
      scheme,
    )
    return this.#make(401, headers, 'invalid_token', 'Invalid token', reason)
  }

  expired(reason: string): AuthRefusal {
    const headers = this.#challenge({
      error: 'invalid_token',
      description: 'the token has expired',
      scope: this.#scopes.join(' '),
    })
    return this.#make(401, headers, 'token_expired', 'Token expired', reason)
  }

  insufficient(scopes: readonly string[]): AuthRefusal {
    const scope = scopes.join(' ')
    const headers = this.#challenge({ error: 'insufficient_scope', scope })
    return this.#make(
      403,
      headers,
      'insufficient_permissions',
      'Insufficient scope',
      `it needs ${scope}`,
    )
  }

  invalidProof(): AuthRefusal {
    const headers = this.#challenge({ error: 'invalid_dpop_proof' }, 'dpop')
    return this.#make(401, headers, 'invalid_token', 'Invalid DPoP proof', 'the proof is invalid')
  }

  needsNonce(nonce: string): AuthRefusal {
    const headers = { ...this.#challenge({ error: 'use_dpop_nonce' }, 'dpop'), 'dpop-nonce': nonce }
    return this.#make(
      401,
      headers,
      'invalid_token',
      'A DPoP nonce is required',
      'the nonce is missing',
    )
  }

  /** The server cannot decide. No challenge: a client would throw a good token away. */
  overloaded(reason: string): AuthRefusal {
    const message = 'Authentication is not available'
    return this.#make(503, { 'retry-after': '1' }, undefined, message, reason, 1000)
  }

  tooManyFailures(waitMs: number): AuthRefusal {
    const headers = { 'retry-after': String(Math.ceil(waitMs / 1000)) }
    const reason = 'too many invalid tokens from this address'
    return this.#make(429, headers, 'rate_limited', 'Too many invalid tokens', reason, waitMs)
  }

  #challenge(parameters: ChallengeParameters, scheme?: 'dpop'): AuthHeaders {
    const metadataUrl = this.#resources.metadataUrl('')
    return challengeHeaders({ ...this.#schemes, metadataUrl }, parameters, scheme)
  }

  #make(
    status: AuthRefusal['status'],
    headers: AuthHeaders,
    kind: ErrorKind | undefined,
    message: string,
    reason: string,
    retryAfterMs?: number,
  ): AuthRefusal {
    const refusal = {
      status,
      headers,
      kind,
      message,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    }
    this.#reasons.set(refusal, reason)
    return refusal
  }
}
