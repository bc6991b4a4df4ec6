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

/**
 * The resource that a listener guards, and further ones at the same origin: a client of HTTP+SSE knows the server by
 * another path. Each has metadata of its own, because a client refuses those of another resource.
 */
export class GuardedResources {
  /** The origin under which callers know the listener. */
  origin = ''
  /** The URLs that tokens may be issued for. */
  urls: readonly string[] = []
  readonly #about: Omit<PublishedResource, 'resource'>
  readonly #documents = new Map<string, PublicDocument>()
  /** The paths of further resources, by the path of requests. */
  readonly #paths = new Map<string, string>()
  #resource: string | undefined

  constructor(about: Omit<PublishedResource, 'resource'>) {
    this.#about = about
  }

  /** The public documents by path. */
  get documents(): ReadonlyMap<string, PublicDocument> {
    return this.#documents
  }

  addPaths(paths: Readonly<Record<string, string>>): void {
    for (const [path, known] of Object.entries(paths)) this.#paths.set(path, known)
    if (this.#resource !== undefined) this.guard(this.#resource)
  }

  /** Sets the resource, and publishes its metadata and those of the further ones. */
  guard(resource: string): void {
    const { origin, pathname } = new URL(resource)
    const others = new Set(this.#paths.values())
    others.delete(pathname)
    this.#resource = resource
    this.origin = origin
    this.urls = [resource, ...[...others].map(path => origin + path)]
    // Without an authorization server there is nothing that a client could find out.
    if (this.#about.authorizationServers.length === 0) return
    for (const url of this.urls) {
      const document = protectedResourceDocument({ ...this.#about, resource: url })
      this.#documents.set(metadataPath(new URL(url).pathname), document)
      // Some clients look only at the root.
      if (url === resource) this.#documents.set(metadataPath('/'), document)
    }
  }

  /** Returns the URL of the metadata for a request at a path; undefined if there are none. */
  metadataUrl(path: string): string | undefined {
    if (this.#resource === undefined || this.#documents.size === 0) return undefined
    const known = this.#paths.get(path)
    return metadataUrl(known === undefined ? this.#resource : this.origin + known)
  }
}

/** Returns the path of the metadata for a resource at a path. */
function metadataPath(path: string): string {
  return path === '/' ? protectedResourcePath : protectedResourcePath + path
}

/** Returns the URL of the metadata of a resource. */
function metadataUrl(resource: string): string {
  const { origin, pathname } = new URL(resource)
  return origin + metadataPath(pathname)
}

/** Makes the metadata document. */
function protectedResourceDocument(described: PublishedResource): PublicDocument {
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
