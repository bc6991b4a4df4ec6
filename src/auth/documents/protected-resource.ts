import { isScope } from '../../mcp/scope.ts'
import { isRecord, stringsIn } from '../../util/objects.ts'
import { AuthError } from '../auth-error.ts'

/** The metadata of a protected resource (RFC 9728), as far as a client needs them. */
export interface ProtectedResource {
  /** The identifier of the resource, exactly as the document spells it. */
  readonly resource: string
  /** The issuers of the authorization servers that it trusts; at least one. */
  readonly authorizationServers: readonly string[]
  readonly scopesSupported?: readonly string[]
  /** Whether it accepts only tokens that are bound to a key of the client. */
  readonly requiresDpop: boolean
}

/** The path at which the metadata of a resource are published, before the path of the resource. */
export const protectedResourcePath = '/.well-known/oauth-protected-resource'

/** Returns the addresses of the metadata of a server that does not name one, in the order of trying. */
export function protectedResourceUrls(server: URL): readonly URL[] {
  const root = new URL(protectedResourcePath, server)
  const path = server.pathname.replace(/\/$/, '')
  const own = new URL(`${protectedResourcePath}${path}${server.search}`, server)
  return own.href === root.href ? [root] : [own, root]
}

/** Reads a metadata document. Throws an AuthError `'metadata'` for one that cannot be used. */
export function readProtectedResource(document: unknown, url: URL): ProtectedResource {
  const fault = (why: string) => new AuthError('metadata', `${url.href}: ${why}`)
  if (!isRecord(document)) throw fault('the metadata of the resource are no JSON object')
  const { resource, authorization_servers, scopes_supported } = document
  if (typeof resource !== 'string' || !URL.canParse(resource))
    throw fault('"resource" is not a URL')
  const authorizationServers =
    stringsIn(authorization_servers)?.filter(url => URL.canParse(url)) ?? []
  if (authorizationServers.length === 0)
    throw fault('"authorization_servers" names no authorization server')
  return {
    resource,
    authorizationServers,
    scopesSupported: stringsIn(scopes_supported)?.filter(isScope),
    requiresDpop: document.dpop_bound_access_tokens_required === true,
  }
}

/**
 * Whether a resource is the server at an address: the same origin, and the same path or a parent of it at the
 * border of a segment. The metadata of any other resource must not be used, because a token for it could be
 * misused.
 */
export function isResourceOf(resource: string, server: URL): boolean {
  const named = new URL(resource)
  if (named.origin !== server.origin || named.hash !== '') return false
  if (named.username !== '' || named.password !== '') return false
  if (named.search !== '' && named.search !== server.search) return false
  const parent = named.pathname.replace(/\/$/, '')
  return server.pathname === parent || server.pathname.startsWith(`${parent}/`)
}
