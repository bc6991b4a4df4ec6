import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Credentials } from '../../src/mcp/credentials.ts'

/** A request as the scripted server has received it. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly form: URLSearchParams
  readonly body: string
  readonly headers: IncomingHttpHeaders
}

/** A response of the scripted server: an object is sent as JSON, a string as it is. */
export interface ScriptedResponse {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: unknown
}

export type Route = (request: SeenRequest) => ScriptedResponse | Promise<ScriptedResponse>

/**
 * Starts an MCP server and its authorization server at one origin of this machine. The documents and the routes can
 * be changed, so that a test can make either of them misbehave. Refresh tokens are replaced with every use, and the
 * use of an old one ends the authorization.
 */
export async function authorizationServer() {
  const seen: SeenRequest[] = []
  const http = createServer((request, response) => {
    const answer = async () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', origin)
      const body = await text(request)
      const { method = '', headers } = request
      const form = new URLSearchParams(body)
      const one = { method, path: pathname, query: searchParams, form, body, headers }
      seen.push(one)
      return (await routes.get(pathname)?.(one)) ?? { status: 404 }
    }
    answer().then(
      ({ status = 200, headers = {}, body = '' }) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers })
        response.end(typeof body === 'string' ? body : JSON.stringify(body))
      },
      () => response.destroy(),
    )
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  // The check: a TCP server that listens has an address with a port.
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`

  const resourceMetadata: Record<string, unknown> = {
    resource: `${origin}/mcp`,
    authorization_servers: [origin],
  }
  const metadata: Record<string, unknown> = {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    revocation_endpoint: `${origin}/revoke`,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'private_key_jwt'],
  }
  const challenge = {
    value: `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
  }
  /** The scopes of each access token that is accepted. */
  const accepted = new Map<string, readonly string[]>()
  let refreshToken = ''
  let issued = 0
  let lifetime: number | undefined = 3600
  let granted = ''
  let needed: string | undefined

  const tokens = (scope: string): ScriptedResponse => {
    const access = `access-${++issued}`
    accepted.set(access, scope.split(' '))
    refreshToken = `refresh-${issued}`
    const known = { access_token: access, refresh_token: refreshToken, token_type: 'Bearer' }
    return { body: { ...known, expires_in: lifetime, ...(scope !== '' && { scope }) } }
  }

  const routes = new Map<string, Route>([
    ['/.well-known/oauth-protected-resource/mcp', () => ({ body: resourceMetadata })],
    ['/.well-known/oauth-authorization-server', () => ({ body: metadata })],
    ['/register', () => ({ status: 201, body: { client_id: `client-of-${origin}` } })],
    [
      '/authorize',
      ({ query }) => {
        const back = new URL(query.get('redirect_uri') ?? '')
        granted = query.get('scope') ?? ''
        back.searchParams.set('state', query.get('state') ?? '')
        back.searchParams.set('iss', origin)
        back.searchParams.set('code', 'code-1')
        return { status: 302, headers: { location: back.href } }
      },
    ],
    [
      '/token',
      ({ form }) => {
        if (form.get('grant_type') !== 'refresh_token') return tokens(form.get('scope') ?? granted)
        if (form.get('refresh_token') === refreshToken) return tokens(granted)
        refreshToken = ''
        return { status: 400, body: { error: 'invalid_grant' } }
      },
    ],
    ['/revoke', () => ({})],
    [
      '/mcp',
      ({ headers }) => {
        const scopes = accepted.get(headers.authorization?.replace('Bearer ', '') ?? '')
        if (scopes === undefined)
          return { status: 401, headers: { 'www-authenticate': challenge.value } }
        if (needed === undefined || scopes.includes(needed)) return {}
        const more = `Bearer error="insufficient_scope", scope="${needed}"`
        return { status: 403, headers: { 'www-authenticate': more } }
      },
    ],
  ])

  return {
    origin,
    url: new URL('/mcp', origin),
    seen,
    routes,
    metadata,
    resourceMetadata,
    challenge,
    /** The requests to a path so far. */
    at: (path: string) => seen.filter(request => request.path === path),
    /** Makes the server refuse all tokens that were issued so far. */
    expire: () => accepted.clear(),
    /** Sets the lifetime of tokens, in seconds. */
    issueFor: (seconds: number | undefined) => {
      lifetime = seconds
    },
    /** Sets the scope that every request needs. */
    require: (scope: string | undefined) => {
      needed = scope
    },
    /** Does what a browser does on the page to log in. */
    open: async (page: URL): Promise<URL> => {
      const response = await fetch(page, { redirect: 'manual' })
      await response.body?.cancel()
      return new URL(response.headers.get('location') ?? '', page)
    },
    close: async () => {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
}

/** Sends a request with credentials as a client does; resolves to the status of the response that stands. */
export async function authorizedRequest(
  credentials: Credentials,
  server: URL,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  const asked = { method: 'POST', url: server, server } as const
  const request = {}
  for (;;) {
    const sent = await credentials.headers(asked)
    const response = await fetch(server, { method: 'POST', headers: sent, body: '{}' })
    await response.body?.cancel()
    const { status, headers } = response
    const nonce = headers.get('dpop-nonce')
    if (nonce !== null) credentials.onNonce?.(nonce, server)
    if (status !== 401 && status !== 403) return status
    const operation = 'tools/call purge'
    const refusal = { ...asked, status, headers, sent, operation, address: '127.0.0.1', request }
    if (!(await credentials.refused(refusal, signal))) return status
  }
}
