import { limits } from '../../../util/limits/limits.ts'
import { AuthError } from '../../auth-error.ts'
import type { TokenResponse } from '../../documents/token-response.ts'
import type { JWK } from '../../jose.ts'
import type { GuardedNetwork } from '../../network/guarded-network.ts'
import type { TokenRecord } from '../store/records.ts'
import type { OAuthClient } from './client-authentication.ts'
import type { Discovery } from './discovery.ts'
import { DpopKey, type ReceivedNonces } from './dpop.ts'
import { isEqualSecret, randomText, sha256 } from './encoding.ts'
import { requestTokens } from './token-request.ts'

/**
 * A login that waits for the user, as plain JSON. It is secret: keep it where only the browser session of that user
 * finds it, and use it once.
 */
export interface PendingLogin {
  /** The address of the MCP server. */
  readonly server: string
  /** The issuer of the authorization server, from which the answer must come. */
  readonly issuer: string
  /** The resource that the tokens will be for. */
  readonly resource: string
  /** What is sent as `resource`; undefined if nothing is. */
  readonly audience?: string
  /** The id of this client at the authorization server. */
  readonly clientId: string
  /** Where the browser returns to. */
  readonly redirectUri: string
  /** Returned by the browser, which proves that the answer belongs to this login. */
  readonly state: string
  /** The secret of PKCE. */
  readonly verifier: string
  /** The scopes that are asked for. */
  readonly scopes: readonly string[]
  /** Whether the answer must contain the issuer. */
  readonly sendsIssuer: boolean
  /** The private key to which the tokens will be bound. */
  readonly key?: JWK
  /** Whether the authorization server has no metadata, so that its endpoints have the default paths. */
  readonly hasDefaultEndpoints: boolean
  /** When the login began, in milliseconds since 1970. */
  readonly startedAt: number
}

/** What a login needs. */
export interface LoginStart {
  readonly server: URL
  readonly discovery: Discovery
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly dpop: DpopKey | undefined
  readonly state?: string
  readonly network: GuardedNetwork
}

/** Makes the address of the page on which the user logs in, and what is needed afterwards. */
export async function startLogin(
  start: LoginStart,
): Promise<{ readonly url: URL; readonly pending: PendingLogin }> {
  const { server, discovery, clientId, redirectUri, scopes, dpop, state = randomText() } = start
  const { metadata, audience, resource, hasDefaultEndpoints } = discovery
  const verifier = randomText()
  const url = checkedEndpoint(discovery, start.network)
  const query: Readonly<Record<string, string | undefined>> = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: await sha256(verifier),
    code_challenge_method: 'S256',
    state,
    resource: audience,
    scope: scopes.length === 0 ? undefined : scopes.join(' '),
    // Without it some servers do not give the refresh token that this scope stands for.
    prompt: scopes.includes('offline_access') ? 'consent' : undefined,
  }
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value)
  }
  const pending: PendingLogin = {
    server: server.href,
    issuer: metadata.issuer,
    resource,
    audience,
    clientId,
    redirectUri,
    state,
    verifier,
    scopes,
    sendsIssuer: metadata.sendsIssuer,
    key: dpop?.jwk,
    hasDefaultEndpoints,
    startedAt: Date.now(),
  }
  return { url, pending }
}

/** Returns the authorization endpoint. Throws an AuthError if it cannot be used safely. */
function checkedEndpoint({ metadata }: Discovery, network: GuardedNetwork): URL {
  const { issuer, authorizationEndpoint, challengeMethods = [] } = metadata
  if (authorizationEndpoint === undefined)
    throw new AuthError('unsupported', `${issuer} has no page to log in`, { issuer })
  if (!challengeMethods.includes('S256'))
    throw new AuthError('no-pkce', `${issuer} does not support PKCE with S256`, { issuer })
  const url = new URL(authorizationEndpoint)
  network.check(url)
  return url
}

/** Whether a redirect is the answer to this login. */
export function isCallbackOf({ state }: Pick<PendingLogin, 'state'>, callback: URL): boolean {
  const [found, ...more] = callback.searchParams.getAll('state')
  return found !== undefined && more.length === 0 && isEqualSecret(found, state)
}

/**
 * Returns the code in the address to which the browser was redirected. Throws an AuthError for an answer to another
 * login, from another authorization server, or with an error; nothing of the answer is believed before it is known
 * to come from the right server.
 */
export function codeIn(pending: PendingLogin, callback: URL): string {
  const { issuer, sendsIssuer } = pending
  if (!isCallbackOf(pending, callback) || !isAt(callback, pending.redirectUri))
    throw new AuthError('state-mismatch', 'the redirect belongs to no login of this client')
  const issuers = callback.searchParams.getAll('iss')
  if (issuers.some(found => found !== issuer) || (sendsIssuer && issuers.length === 0)) {
    const words = `the answer to the login does not come from ${issuer}`
    throw new AuthError('issuer-mismatch', words, { issuer })
  }
  const error = callback.searchParams.get('error')
  if (error !== null) {
    const name = /^[\w.-]{1,100}$/.test(error) ? error : 'an error'
    throw new AuthError('denied', `${issuer} has refused the login: ${name}`, {
      issuer,
      error: name,
    })
  }
  const [code, ...more] = callback.searchParams.getAll('code')
  if (code !== undefined && code !== '' && more.length === 0) return code
  throw new AuthError('token', `the answer of ${issuer} to the login has no code`, { issuer })
}

/** What the second half of a login needs. */
export interface LoginEnd {
  readonly discovery: Discovery
  readonly client: OAuthClient
  readonly network: GuardedNetwork
  readonly nonces: ReceivedNonces
  readonly signal: AbortSignal | undefined
}

/** Exchanges the code of a login for tokens. Rejects with an AuthError. */
export async function endLogin(
  pending: PendingLogin,
  callback: URL,
  { discovery, client, network, nonces, signal }: LoginEnd,
): Promise<TokenRecord> {
  const { issuer, resource, clientId, audience, scopes, key } = pending
  const code = codeIn(pending, callback)
  if (Date.now() - pending.startedAt > limits.flowMs.default)
    throw new AuthError('login-required', 'the login took too long; start it again')
  if (discovery.metadata.issuer !== issuer) {
    const words = `the login began at ${issuer}, and the server now uses ${discovery.metadata.issuer}`
    throw new AuthError('issuer-mismatch', words, { issuer })
  }
  const tokens = await requestTokens({
    network,
    metadata: discovery.metadata,
    client,
    form: {
      grant_type: 'authorization_code',
      code,
      redirect_uri: pending.redirectUri,
      code_verifier: pending.verifier,
      resource: audience,
    },
    dpop: key && (await DpopKey.from(key, nonces)),
    nonces,
    signal,
  })
  const { hasDefaultEndpoints } = pending
  const login = { issuer, resource, clientId, audience, key, hasDefaultEndpoints }
  return { ...login, grant: randomText(), scopes, ...tokensOf(tokens) }
}

/** Returns the part of a record that a token response sets; scopes only if the response names them. */
export function tokensOf(tokens: TokenResponse): Pick<
  TokenRecord,
  'accessToken' | 'tokenType' | 'issuedAt' | 'expiresAt' | 'refreshToken'
> & {
  readonly scopes?: readonly string[]
} {
  const { accessToken, tokenType, expiresIn, refreshToken, scopes } = tokens
  const issuedAt = Date.now()
  const expiresAt = expiresIn === undefined ? undefined : issuedAt + expiresIn * 1000
  const lasting = { accessToken, tokenType, issuedAt, expiresAt, refreshToken }
  return scopes === undefined ? lasting : { ...lasting, scopes }
}

function isAt(callback: URL, redirectUri: string): boolean {
  const { origin, pathname } = new URL(redirectUri)
  return callback.origin === origin && callback.pathname === pathname
}
