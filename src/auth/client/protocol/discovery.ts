import { AuthError } from '../../auth-error.ts'
import type { TokenChallenge } from '../../documents/challenge.ts'
import {
  isResourceOf,
  type ProtectedResource,
  protectedResourceUrls,
  readProtectedResource,
} from '../../documents/protected-resource.ts'
import {
  isSameIssuer,
  readServerMetadata,
  type ServerMetadata,
  serverMetadataUrls,
} from '../../documents/server-metadata.ts'
import type { GuardedNetwork } from '../../network/guarded-network.ts'
import type { NetworkResponse } from '../../network/network.ts'
import { jsonOf } from './token-request.ts'

/** How a server is authorized for: its resource and the authorization server. */
export interface Discovery {
  /** The resource that tokens are for; the address of the server if it has no metadata. */
  readonly resource: string
  /** What to send as `resource`; undefined to send none. */
  readonly audience: string | undefined
  readonly scopesSupported: readonly string[] | undefined
  readonly requiresDpop: boolean
  readonly metadata: ServerMetadata
  /** Whether the authorization server has no metadata, so that its endpoints have the default paths. */
  readonly hasDefaultEndpoints: boolean
}

/** What to discoverAuthorization, and how. */
export interface DiscoveryRequest {
  readonly server: URL
  readonly challenge: TokenChallenge | undefined
  readonly network: GuardedNetwork
  /** The only authorization server that may be used. */
  readonly issuer: string | undefined
  /** What to send as `resource` instead of what the server names; false for none. */
  readonly audience: string | false | undefined
  readonly isStrict: boolean
  /** Returns the authorization server to prefer if a server trusts several. */
  readonly preferred?: (
    issuers: readonly string[],
    resource: string,
  ) => string | undefined | Promise<string | undefined>
  readonly signal: AbortSignal | undefined
}

/**
 * Finds the authorization server of an MCP server: from its challenge or its well-known addresses to its metadata,
 * and from there to the metadata of the authorization server. Each document is checked before the next is
 * requested. Rejects with an AuthError.
 */
export async function discoverAuthorization(request: DiscoveryRequest): Promise<Discovery> {
  const { server, isStrict } = request
  const resource = await findProtectedResource(request)
  if (resource === undefined) {
    if (!isStrict) return withoutResourceMetadata(request)
    throw new AuthError('metadata', `${server.origin} publishes no metadata of the resource`)
  }
  if (!isResourceOf(resource.resource, server)) {
    const words = `the metadata of ${server.href} are those of ${resource.resource}`
    throw new AuthError('resource-mismatch', words, { resource: resource.resource })
  }
  const issuer = await chooseIssuer(resource, request)
  const metadata = await findServerMetadata(issuer, request)
  const { audience = resource.resource } = request
  return {
    resource: resource.resource,
    audience: audience === false ? undefined : audience,
    scopesSupported: resource.scopesSupported,
    requiresDpop: resource.requiresDpop,
    metadata,
    hasDefaultEndpoints: false,
  }
}

/** Gets the metadata of an authorization server. Rejects with an AuthError if none are found or they are of another. */
export async function findServerMetadata(
  issuer: string,
  { network, isStrict, signal }: Pick<DiscoveryRequest, 'network' | 'isStrict' | 'signal'>,
): Promise<ServerMetadata> {
  for (const url of serverMetadataUrls(issuer)) {
    const document = await documentAt(url, network, signal)
    if (document.isMissing) continue
    const metadata = readServerMetadata(document.json, url)
    if (isSameIssuer(metadata.issuer, issuer, isStrict)) return metadata
    const words = `the metadata of ${issuer} are those of ${metadata.issuer}`
    throw new AuthError('issuer-mismatch', words, { issuer })
  }
  throw new AuthError('metadata', `the authorization server ${issuer} publishes no metadata`, {
    issuer,
  })
}

/** Resolves to undefined only if the server clearly has no metadata. */
export async function findProtectedResource({
  server,
  challenge,
  network,
  signal,
}: DiscoveryRequest): Promise<ProtectedResource | undefined> {
  const named = challenge?.resourceMetadata
  if (named !== undefined && !URL.canParse(named))
    throw new AuthError('metadata', '"resource_metadata" of the challenge is not a URL')
  const urls = named === undefined ? protectedResourceUrls(server) : [new URL(named)]
  let refused: string | undefined
  for (const url of urls) {
    const document = await documentAt(url, network, signal)
    if (!document.isMissing) return readProtectedResource(document.json, url)
    // Any other status may hide a document: a server must not be treated like one without metadata then.
    if (named !== undefined || !isAbsent(document.status))
      refused ??= `${url.href} answered ${document.status}`
  }
  if (refused === undefined) return undefined
  throw new AuthError('metadata', `the metadata of ${server.href} cannot be read: ${refused}`)
}

async function chooseIssuer(
  { authorizationServers, resource }: ProtectedResource,
  { issuer, isStrict, preferred }: DiscoveryRequest,
): Promise<string> {
  if (issuer !== undefined) {
    const found = authorizationServers.find(named => isSameIssuer(named, issuer, isStrict))
    if (found !== undefined) return found
    const words = `the server trusts ${authorizationServers.join(', ')}, not ${issuer}`
    throw new AuthError('issuer-mismatch', words, { issuer })
  }
  const best = await preferred?.(authorizationServers, resource)
  // The check: readProtectedResource accepts no document without an authorization server.
  return best ?? (authorizationServers[0] as string)
}

/**
 * Finds the authorization server of an MCP server without metadata, as in the first revision with authorization: on
 * the same host, at the default paths if it has no metadata either.
 */
async function withoutResourceMetadata(request: DiscoveryRequest): Promise<Discovery> {
  const { server, network, audience, signal } = request
  const { origin } = server
  const found = {
    resource: server.href,
    audience: audience === false ? undefined : audience,
    scopesSupported: undefined,
    requiresDpop: false,
  }
  for (const url of serverMetadataUrls(origin)) {
    const document = await documentAt(url, network, signal)
    if (document.isMissing) {
      if (isAbsent(document.status)) continue
      throw new AuthError('metadata', `${url.href} answered ${document.status}`)
    }
    const metadata = readServerMetadata(document.json, url)
    checkPinned(metadata.issuer, request)
    if (originOf(metadata.issuer) === origin)
      return { ...found, metadata, hasDefaultEndpoints: false }
    const words = `the metadata of ${origin} are those of ${metadata.issuer}`
    throw new AuthError('issuer-mismatch', words, { issuer: metadata.issuer })
  }
  checkPinned(origin, request)
  return { ...found, metadata: defaultMetadata(origin), hasDefaultEndpoints: true }
}

/** Returns the metadata of an authorization server that publishes none. */
export function defaultMetadata(origin: string): ServerMetadata {
  return {
    issuer: origin,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    challengeMethods: ['S256'],
    sendsIssuer: false,
    acceptsMetadataUrls: false,
  }
}

function checkPinned(found: string, { issuer, isStrict }: DiscoveryRequest): void {
  if (issuer === undefined || isSameIssuer(found, issuer, isStrict)) return
  throw new AuthError('issuer-mismatch', `the server uses ${found}, not ${issuer}`, { issuer })
}

type Document =
  | { readonly isMissing: false; readonly json: unknown }
  | { readonly isMissing: true; readonly status: number }

/** Gets a document. A server that has a failure is not one without the document, so that rejects. */
async function documentAt(
  url: URL,
  network: GuardedNetwork,
  signal: AbortSignal | undefined,
): Promise<Document> {
  const response: NetworkResponse = await network.get(url, signal)
  const { status } = response
  if (status === 200) {
    const json = jsonOf(response)
    if (json !== undefined) return { isMissing: false, json }
    throw new AuthError('metadata', `${url.href} is no JSON document`)
  }
  if (status >= 400 && status < 500 && status !== 429) return { isMissing: true, status }
  throw new AuthError('unreachable', `${url.href} answered ${status}`)
}

function isAbsent(status: number): boolean {
  return status === 404 || status === 405
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined
}
