import { randomText } from '../../auth/client/protocol/encoding.ts'
import { readScopes } from '../../auth/documents/scope.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import { limits } from '../../util/limits/limits.ts'
import { allowsRedirect, type Clients } from './clients.ts'
import { type Grants, grantedScopes, issuerScopes } from './grants.ts'
import { OAuthProblem } from './oauth-response.ts'
import type { DevIssuerSettings } from './options.ts'
import { problemPage, userPage } from './page.ts'

/** What the authorization endpoint works with. */
export interface AuthorizationContext {
  readonly issuer: string
  readonly settings: DevIssuerSettings
  readonly clients: Clients
  readonly grants: Grants
}

/** An authorization request that waits until a user is chosen. */
interface PendingRequest {
  readonly clientId: string
  readonly redirectUri: string
  readonly state: string | null
  readonly nonce: string | undefined
  readonly scopes: readonly string[]
  readonly resource: string
  readonly challenge: string
}

/** The authorization endpoint: shows the page, and redirects with a code once a user was chosen. */
export class AuthorizationEndpoint {
  readonly #context: AuthorizationContext
  readonly #pending = new BoundedMap<PendingRequest>(
    limits.devIssuerEntries.default,
    Number.POSITIVE_INFINITY,
  )

  constructor(context: AuthorizationContext) {
    this.#context = context
  }

  /** Answers the request of a client that the browser brings. */
  async show(query: URLSearchParams): Promise<Response> {
    const { clients, settings } = this.#context
    const redirectUri = query.get('redirect_uri') ?? ''
    const client = await clients.find(query.get('client_id') ?? '').catch(problemOf)
    if (client instanceof OAuthProblem) return problemPage(client.message)
    if (!allowsRedirect(client, redirectUri))
      return problemPage(`${redirectUri || 'no address'} is not registered as redirect_uri`)
    const state = query.get('state')
    const request = readRequest(query, this.#context.issuer)
    if (request instanceof OAuthProblem) {
      const { error, message } = request
      return this.#redirect(redirectUri, state, { error, error_description: message })
    }
    const id = randomText()
    const { clientId, name: clientName } = client
    this.#pending.set(id, { clientId, redirectUri, state, ...request }, 0)
    const { scopes, resource } = request
    return userPage({
      request: id,
      clientName,
      resource,
      scopes,
      redirectUri,
      users: settings.users,
    })
  }

  /** Answers the form of the page. Each page can be used once. */
  choose(form: URLSearchParams): Response {
    const { settings, grants } = this.#context
    const id = form.get('request') ?? ''
    const request = this.#pending.get(id)
    if (request === undefined)
      return problemPage('This page was used before. Start the login again.')
    const user = settings.users.find(({ sub }) => sub === form.get('user'))
    if (user === undefined && !form.has('cancel')) return problemPage('There is no such user.')
    this.#pending.delete(id)
    const { redirectUri, state, clientId, resource, nonce, challenge } = request
    if (user === undefined) return this.#redirect(redirectUri, state, { error: 'access_denied' })
    const scopes = grantedScopes(request.scopes, user)
    const { sub, roles } = user
    const grant = { clientId, sub, roles, scopes, resource, nonce, isEnded: false }
    const expiresAt = settings.now() + limits.devIssuerCodeMs.default
    const code = grants.addCode({ grant, redirectUri, challenge, expiresAt })
    return this.#redirect(redirectUri, state, { code })
  }

  #redirect(
    redirectUri: string,
    state: string | null,
    answer: Readonly<Record<string, string>>,
  ): Response {
    const target = new URL(redirectUri)
    for (const [name, value] of Object.entries(answer)) target.searchParams.set(name, value)
    if (state !== null) target.searchParams.set('state', state)
    target.searchParams.set('iss', this.#context.issuer)
    const headers = { location: target.href, 'cache-control': 'no-store' }
    return new Response(null, { status: 302, headers })
  }
}

/** Reads what a client asks for; returns the problem, which the client gets by a redirect. */
function readRequest(
  query: URLSearchParams,
  issuer: string,
): Pick<PendingRequest, 'scopes' | 'resource' | 'challenge' | 'nonce'> | OAuthProblem {
  if (query.get('response_type') !== 'code')
    return new OAuthProblem('unsupported_response_type', 'response_type must be code')
  const challenge = query.get('code_challenge') ?? ''
  if (query.get('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(challenge))
    return new OAuthProblem('invalid_request', 'a code_challenge with the method S256 is required')
  const scopes = readScopes(query.get('scope')) ?? []
  // A client that only wants to know who logs in has no use for an access token.
  const isLogin = scopes.includes('openid') && scopes.every(scope => issuerScopes.includes(scope))
  const resource = isLogin && !query.has('resource') ? issuer : readResource(query)
  if (resource instanceof OAuthProblem) return resource
  return { scopes, resource, challenge, nonce: query.get('nonce') ?? undefined }
}

/** Reads the parameter `resource` (RFC 8707), which becomes the audience; returns what is wrong with it. */
export function readResource(parameters: URLSearchParams): string | OAuthProblem {
  const [resource, ...others] = parameters.getAll('resource')
  if (resource === undefined)
    return new OAuthProblem('invalid_target', '"resource" is missing: the URL of the MCP server')
  if (others.length > 0)
    return new OAuthProblem(
      'invalid_target',
      '"resource" is given several times; ask for one token each',
    )
  return URL.canParse(resource) && !resource.includes('#')
    ? resource
    : new OAuthProblem('invalid_target', '"resource" must be an absolute URL without a fragment')
}

/** Turns a failure into a problem that a page can show. */
function problemOf(failure: unknown): OAuthProblem {
  if (failure instanceof OAuthProblem) return failure
  return new OAuthProblem('server_error', failure instanceof Error ? failure.message : 'failed')
}
