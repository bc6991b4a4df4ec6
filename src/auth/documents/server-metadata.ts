import { isRecord, stringsIn } from '../../util/objects.ts'
import { AuthError } from '../auth-error.ts'

/** The metadata of an authorization server (RFC 8414), as far as a client needs them. */
export interface ServerMetadata {
  /** The identifier of the authorization server. */
  readonly issuer: string
  readonly authorizationEndpoint: string | undefined
  readonly tokenEndpoint: string
  readonly registrationEndpoint?: string
  readonly revocationEndpoint?: string
  readonly scopesSupported?: readonly string[]
  /** How clients authenticate at the token endpoint. */
  readonly authMethods?: readonly string[]
  /** The methods of PKCE; undefined if the document does not mention PKCE. */
  readonly challengeMethods?: readonly string[]
  /** Whether answers to authorization requests contain `iss` (RFC 9207). */
  readonly sendsIssuer: boolean
  /** Whether the URL of a metadata document can be used as a client id. */
  readonly acceptsMetadataUrls: boolean
  readonly dpopAlgorithms?: readonly string[]
  readonly idTokenAlgorithms?: readonly string[]
}

const oauthPath = '/.well-known/oauth-authorization-server'
const openidPath = '/.well-known/openid-configuration'

/** Returns the addresses of the metadata of an issuer, in the order of trying. */
export function serverMetadataUrls(issuer: string): readonly URL[] {
  const url = new URL(issuer)
  const path = url.pathname.replace(/\/$/, '')
  const inserted = [new URL(oauthPath + path, url), new URL(openidPath + path, url)]
  // The metadata at the root are those of another issuer.
  return path === '' ? inserted : [...inserted, new URL(path + openidPath, url)]
}

/** Reads a metadata document. Throws an AuthError `'metadata'` for one that cannot be used. */
export function readServerMetadata(document: unknown, url: URL): ServerMetadata {
  const fault = (why: string) => new AuthError('metadata', `${url.href}: ${why}`)
  if (!isRecord(document))
    throw fault('the metadata of the authorization server are no JSON object')
  const address = (name: string): string | undefined => {
    const value = document[name]
    if (value === undefined || value === null) return undefined
    if (typeof value === 'string' && URL.canParse(value)) return value
    throw fault(`"${name}" is not a URL`)
  }
  const { issuer } = document
  if (typeof issuer !== 'string') throw fault('"issuer" is missing')
  const tokenEndpoint = address('token_endpoint')
  if (tokenEndpoint === undefined) throw fault('"token_endpoint" is missing')
  return {
    issuer,
    authorizationEndpoint: address('authorization_endpoint'),
    tokenEndpoint,
    registrationEndpoint: address('registration_endpoint'),
    revocationEndpoint: address('revocation_endpoint'),
    scopesSupported: stringsIn(document.scopes_supported),
    authMethods: stringsIn(document.token_endpoint_auth_methods_supported),
    challengeMethods: stringsIn(document.code_challenge_methods_supported),
    sendsIssuer: document.authorization_response_iss_parameter_supported === true,
    acceptsMetadataUrls: document.client_id_metadata_document_supported === true,
    dpopAlgorithms: stringsIn(document.dpop_signing_alg_values_supported),
    idTokenAlgorithms: stringsIn(document.id_token_signing_alg_values_supported),
  }
}

/**
 * Whether metadata belong to an issuer: the two strings are equal. Unless `isStrict`, an issuer without a path may
 * also differ by one slash at its end, which some servers publish although they name themselves without it.
 */
export function isSameIssuer(found: string, expected: string, isStrict: boolean): boolean {
  if (found === expected) return true
  const withoutPath = /^[a-z]+:\/\/[^/?#]+$/i
  const [one, other] = [found.replace(/\/$/, ''), expected.replace(/\/$/, '')]
  return !isStrict && one === other && withoutPath.test(one)
}
