import type { PublicDocument } from '../../mcp/authenticator.ts'
import { protectedResourcePath } from '../documents/protected-resource.ts'

/** What the metadata of a protected resource says (RFC 9728). */
export interface PublishedResource {
  /** The URL that callers know, as it is. */
  readonly resource: string
  readonly authorizationServers: readonly string[]
  readonly scopesSupported?: readonly string[] | undefined
  readonly name?: string | undefined
  readonly documentation?: string | undefined
  readonly dpop: 'accept' | 'require' | false
  readonly dpopAlgorithms: readonly string[]
  /** Whether tokens are bound to client certificates. */
  readonly boundToCertificates: boolean
}

/** Returns the path of the metadata for a resource at a path. */
export function metadataPath(path: string): string {
  return path === '/' ? protectedResourcePath : protectedResourcePath + path
}

/** Returns the URL of the metadata of a resource. */
export function metadataUrl(resource: string): string {
  const { origin, pathname } = new URL(resource)
  return origin + metadataPath(pathname)
}

/** Makes the metadata document. */
export function protectedResourceDocument(described: PublishedResource): PublicDocument {
  const { dpop } = described
  const body = JSON.stringify({
    resource: described.resource,
    authorization_servers: described.authorizationServers,
    scopes_supported: described.scopesSupported,
    bearer_methods_supported: ['header'],
    resource_name: described.name,
    resource_documentation: described.documentation,
    dpop_signing_alg_values_supported: dpop === false ? undefined : described.dpopAlgorithms,
    dpop_bound_access_tokens_required: dpop === 'require' ? true : undefined,
    tls_client_certificate_bound_access_tokens: described.boundToCertificates ? true : undefined,
  })
  return {
    headers: {
      'content-type': 'application/json',
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    },
    body,
  }
}
