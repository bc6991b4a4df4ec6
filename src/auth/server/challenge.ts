import type { AuthHeaders } from '../../mcp/authenticator.ts'
import { isScope } from '../../mcp/scope.ts'

/** The parameters of a challenge. */
export interface ChallengeParameters {
  readonly error?: string
  readonly description?: string
  /** The scopes that a token needs, separated by spaces. */
  readonly scope?: string
}

/** Which schemes a server accepts, and where its metadata is. */
export interface ChallengeSettings {
  /** The URL of the protected resource metadata; undefined where there is no authorization server. */
  readonly metadataUrl: string | undefined
  readonly dpop: 'accept' | 'require' | false
  /** The signature algorithms of DPoP proofs. */
  readonly algorithms: readonly string[]
}

/**
 * Makes the header `WWW-Authenticate` (RFC 6750, RFC 9728, RFC 9449). `Bearer` comes first, because clients
 * exist that read only a value that starts with it.
 */
export function challengeHeaders(
  { metadataUrl, dpop, algorithms }: ChallengeSettings,
  { error, description, scope }: ChallengeParameters,
  scheme: 'bearer' | 'dpop' = 'bearer',
): AuthHeaders {
  const parameters = [
    error && parameter('error', error),
    description && parameter('error_description', description),
    scope && parameter('scope', scope),
    metadataUrl && parameter('resource_metadata', metadataUrl),
  ]
  const algs = parameter('algs', algorithms.join(' '))
  const written = (first: string, more: readonly (string | undefined)[]): string =>
    [first, more.filter(Boolean).join(', ')].filter(Boolean).join(' ')
  const value =
    dpop === 'require' || scheme === 'dpop'
      ? written('DPoP', [...parameters.map(text => text || undefined), algs])
      : [
          written(
            'Bearer',
            parameters.map(text => text || undefined),
          ),
          ...(dpop ? [`DPoP ${algs}`] : []),
        ].join(', ')
  return { 'www-authenticate': value }
}

/** Writes a quoted parameter. Its characters were checked when the options were read, or are fixed texts. */
function parameter(name: string, value: string): string {
  return `${name}="${value.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '')}"`
}

/** Throws a TypeError for a scope that RFC 6749 does not allow. */
export function checkScopes(option: string, scopes: readonly string[] | undefined): void {
  for (const scope of scopes ?? []) {
    if (typeof scope === 'string' && isScope(scope)) continue
    throw new TypeError(`option "${option}" has an invalid scope ${JSON.stringify(scope)}`)
  }
}
