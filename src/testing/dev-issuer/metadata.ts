import { proofAlgorithms } from '../../auth/server/dpop/proof-check.ts'
import { assertionAlgorithms, clientAuthMethods } from './clients.ts'
import { issuerScopes } from './grants.ts'
import type { DevIssuerSettings } from './options.ts'
import { grantTypesSupported } from './token-endpoint.ts'

/** Makes the metadata document of an issuer (RFC 8414 and OpenID Connect Discovery). */
export function issuerMetadata(issuer: string, settings: DevIssuerSettings): object {
  const { scopes } = settings
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    introspection_endpoint: `${issuer}/introspect`,
    revocation_endpoint: `${issuer}/revoke`,
    jwks_uri: `${issuer}/jwks`,
    scopes_supported: [...new Set([...scopes, ...issuerScopes])],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grantTypesSupported(settings),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    token_endpoint_auth_methods_supported: clientAuthMethods,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    dpop_signing_alg_values_supported: proofAlgorithms,
  }
}
