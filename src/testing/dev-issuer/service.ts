import { AuthorizationEndpoint } from './authorization.ts'
import { Clients } from './clients.ts'
import { Grants } from './grants.ts'
import { issuerMetadata } from './metadata.ts'
import { jsonResponse, OAuthProblem, problemResponse } from './oauth-response.ts'
import type { DevIssuerSettings } from './options.ts'
import { proofChecker } from './proof.ts'
import { type TokenContext, tokenResponse } from './token-endpoint.ts'
import { introspectionResponse, revocationResponse } from './token-status.ts'
import type { AccessTokens } from './tokens/access-tokens.ts'

/** The endpoints of an issuer, as a function. */
export interface IssuerService {
  readonly tokens: AccessTokens
  /** Answers a request. Never rejects. */
  handle(request: Request): Promise<Response>
  /** Returns a function that does what a user does in a browser. */
  browser(sub?: string): (page: URL) => Promise<URL>
}

type Endpoint = (request: Request) => Promise<Response> | Response

/** Makes the endpoints of an issuer. */
export function issuerService(tokens: AccessTokens, settings: DevIssuerSettings): IssuerService {
  const { issuer } = tokens
  const clients = new Clients(settings)
  const grants = new Grants()
  const proofs = proofChecker(settings.now, { nonce: settings.dpopNonce })
  const context: TokenContext = { issuer, settings, clients, grants, tokens, proofs }
  const authorization = new AuthorizationEndpoint(context)
  const metadata = issuerMetadata(issuer, settings)
  const form =
    (
      answer: (request: Request, form: URLSearchParams, context: TokenContext) => Promise<Response>,
    ) =>
    async (request: Request): Promise<Response> =>
      answer(request, await formOf(request), context)
  const endpoints: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
    ['GET /.well-known/oauth-authorization-server', () => jsonResponse(metadata)],
    ['GET /.well-known/openid-configuration', () => jsonResponse(metadata)],
    ['GET /jwks', () => jsonResponse({ keys: [tokens.key.jwk] })],
    ['GET /authorize', ({ url }) => authorization.show(new URL(url).searchParams)],
    ['POST /authorize', async request => authorization.choose(await formOf(request))],
    ['POST /token', form(tokenResponse)],
    ['POST /introspect', form(introspectionResponse)],
    ['POST /revoke', form(revocationResponse)],
    [
      'POST /register',
      async request => jsonResponse(clients.register(await jsonOf(request)), { status: 201 }),
    ],
  ])
  const handle = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    const response = await answer(endpoints, request, pathname).catch(problemResponse)
    // Not the page: no other site may read it.
    if (pathname !== '/authorize') allowOrigins(response.headers)
    return response
  }
  return {
    tokens,
    handle,
    browser: sub => page => browse(handle, page, sub ?? settings.users[0]?.sub ?? ''),
  }
}

async function answer(
  endpoints: ReadonlyMap<string, Endpoint>,
  request: Request,
  pathname: string,
): Promise<Response> {
  const methods = ['GET', 'POST'].filter(method => endpoints.has(`${method} ${pathname}`))
  if (methods.length === 0) return new Response('not found', { status: 404 })
  if (request.method === 'OPTIONS') return new Response(null, { status: 204 })
  const run = endpoints.get(`${request.method === 'HEAD' ? 'GET' : request.method} ${pathname}`)
  if (run === undefined)
    return new Response(null, { status: 405, headers: { allow: methods.join(', ') } })
  return run(request)
}

/** Lets web pages use an endpoint, as browser-based clients need it. None of them takes cookies. */
function allowOrigins(headers: Headers): void {
  headers.set('access-control-allow-origin', '*')
  headers.set(
    'access-control-allow-headers',
    'authorization, content-type, dpop, mcp-protocol-version',
  )
  headers.set('access-control-allow-methods', 'GET, POST')
  headers.set('access-control-expose-headers', 'dpop-nonce, www-authenticate')
}

async function formOf(request: Request): Promise<URLSearchParams> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/x-www-form-urlencoded\b/i.test(type))
    throw new OAuthProblem('invalid_request', 'the body must be application/x-www-form-urlencoded')
  return new URLSearchParams(await request.text())
}

async function jsonOf(request: Request): Promise<unknown> {
  try {
    return await request.json()
  } catch {
    throw new OAuthProblem('invalid_client_metadata', 'the body must be JSON')
  }
}

/** Opens the page to log in, and sends its form for a user. */
async function browse(handle: IssuerService['handle'], page: URL, sub: string): Promise<URL> {
  const shown = await handle(new Request(page))
  const problem = shown.headers.get('location')
  if (problem !== null) return new URL(problem)
  const html = await shown.text()
  const [, id = ''] = /name="request" value="([^"]+)"/.exec(html) ?? []
  const chosen = await handle(
    new Request(page, { method: 'POST', body: new URLSearchParams({ request: id, user: sub }) }),
  )
  const location = chosen.headers.get('location')
  if (location !== null) return new URL(location)
  const why = id === '' ? html : await chosen.text()
  throw new Error(`${sub} cannot log in: ${why.replace(/<[^>]*>/g, ' ').trim()}`)
}
