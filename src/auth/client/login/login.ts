import { AuthError } from '../../auth-error.ts'
import { challengeOf, type TokenChallenge } from '../../documents/challenge.ts'
import { GuardedNetwork } from '../../network/guarded-network.ts'
import { authorize } from '../authorize.ts'
import { isBoundToKey, scopesFor } from '../login-choices.ts'
import { type OAuthOptions, type OAuthSettings, oauthSettings } from '../options.ts'
import { authenticateClient, type OAuthClient } from '../protocol/client-authentication.ts'
import {
  type Discovery,
  defaultMetadata,
  discoverAuthorization,
  findServerMetadata,
} from '../protocol/discovery.ts'
import { DpopKey, ReceivedNonces } from '../protocol/dpop.ts'
import { endLogin, type PendingLogin, startLogin } from '../protocol/login-flow.ts'
import { registeredClient } from '../protocol/registration.ts'
import { clientFor } from '../refresh.ts'
import {
  readLogin,
  readTokens,
  recordKeys,
  type TokenRecord,
  writeLogin,
  writeTokens,
} from '../store/records.ts'
import type { TokenStore } from '../store/token-store.ts'

/** What a login has given, without the tokens themselves, which are in the store. */
export interface LoginResult {
  /** The issuer of the authorization server. */
  readonly issuer: string
  /** The resource that the tokens are for. */
  readonly resource: string
  /** The id of this client at the authorization server. */
  readonly clientId: string
  /** The scopes that were granted. */
  readonly scopes: readonly string[]
  /** When the access token expires, in milliseconds since 1970; undefined if the server does not say. */
  readonly expiresAt?: number
  /** Whether the token can be renewed without the user. */
  readonly isRenewable: boolean
}

/**
 * Asks a user to log in at a server now, and stores the tokens for later connections. Rejects with an AuthError, and
 * with the reason of the signal.
 */
export async function login(
  server: string | URL,
  options: OAuthOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<LoginResult> {
  const settings = oauthSettings(options)
  const context = await prepare(new URL(server), settings, signal)
  const record = await authorize({ ...context, settings }, signal)
  return keep(settings.store, context.server, record)
}

/** Options of {@link begin}: those of `oauth`, and the address that the browser returns to. */
export interface BeginOptions
  extends Omit<OAuthOptions, 'redirect' | 'open' | 'loginMs' | 'stepUp'> {
  /** The address of this website that the browser returns to; exactly as it is registered. */
  readonly redirect: string
}

/**
 * Begins a login for a website: resolves to the address to send the browser of the user to, and to what `finish` needs
 * when the browser returns. `pending` is plain JSON and secret: keep it in the session of the user on the server.
 */
export async function begin(
  server: string | URL,
  { redirect, ...options }: BeginOptions,
): Promise<{ readonly url: URL; readonly pending: PendingLogin }> {
  const settings = oauthSettings({ applicationType: 'web', ...options })
  if (!URL.canParse(redirect)) throw new TypeError('option "redirect" must be a URL')
  const { discovery, scopes, isBound, network, nonces, ...context } = await prepare(
    new URL(server),
    settings,
    undefined,
  )
  const { client, redirectUri } = await registeredClient({
    settings,
    network,
    metadata: discovery.metadata,
    redirectUris: [redirect],
    signal: undefined,
  })
  const dpop = isBound ? await DpopKey.create(nonces) : undefined
  const { clientId } = client
  return startLogin({ ...context, discovery, clientId, redirectUri, scopes, dpop, network })
}

/**
 * Finishes a login of a website with the address that the browser has returned to, and stores the tokens. `options` are
 * those of `begin`. Rejects with an AuthError, `'state-mismatch'` if the answer belongs to another login.
 */
export async function finish(
  pending: PendingLogin,
  callback: string | URL,
  { redirect: _, ...options }: BeginOptions,
): Promise<LoginResult> {
  const settings = oauthSettings(options)
  const network = new GuardedNetwork(settings.network)
  const server = new URL(pending.server)
  await probe(server, network, undefined)
  const { issuer, hasDefaultEndpoints } = pending
  const metadata = hasDefaultEndpoints
    ? defaultMetadata(issuer)
    : await findServerMetadata(issuer, { network, isStrict: settings.isStrict, signal: undefined })
  const discovery: Discovery = {
    resource: pending.resource,
    audience: pending.audience,
    scopesSupported: undefined,
    requiresDpop: false,
    metadata,
    hasDefaultEndpoints,
  }
  const client = await clientFor(pending, settings)
  const nonces = new ReceivedNonces()
  const end = { discovery, client, network, nonces, signal: undefined }
  return keep(settings.store, server, await endLogin(pending, new URL(callback), end))
}

/**
 * Ends the login of a server: revokes its tokens at the authorization server, where that is possible (RFC 7009), and
 * removes them from the store. Resolves to whether there was a login. Tokens that cannot be revoked are removed
 * all the same.
 */
export async function revoke(
  server: string | URL,
  options: Pick<OAuthOptions, 'store' | 'clientId' | 'clientSecret' | 'privateKey' | 'network'>,
): Promise<boolean> {
  const settings = oauthSettings(options)
  const { store } = settings
  const { href } = new URL(server)
  const known = await readLogin(store, href)
  if (known === undefined) return false
  const found = await readTokens(store, known)
  const client = await clientFor(known, settings)
  await store.remove(recordKeys.login(href))
  await store.remove(recordKeys.tokens(known))
  const keys = await store.keys?.()
  // Other servers may use the same registration.
  const isNeeded = keys?.some(key => key.startsWith(recordKeys.tokensOf(known.issuer))) ?? true
  if (!isNeeded) await store.remove(recordKeys.registration(known.issuer))
  // Best effort: an access token that stays valid expires by itself.
  if (found !== undefined) await revokeTokens(found.record, client, settings, href).catch(() => {})
  return true
}

interface LoginContext {
  readonly server: URL
  readonly discovery: Discovery
  readonly scopes: readonly string[]
  readonly isBound: boolean
  readonly network: GuardedNetwork
  readonly nonces: ReceivedNonces
}

async function prepare(
  server: URL,
  settings: OAuthSettings,
  signal: AbortSignal | undefined,
): Promise<LoginContext> {
  const network = new GuardedNetwork(settings.network)
  const challenge = await probe(server, network, signal)
  const { issuer, resource: audience, isStrict } = settings
  const request = { server, challenge, network, issuer, audience, isStrict, signal }
  const discovery = await discoverAuthorization(request)
  const scopes = scopesFor(settings, discovery, challenge)
  const isBound = isBoundToKey(settings, discovery, challenge)
  return { server, discovery, scopes, isBound, network, nonces: new ReceivedNonces() }
}

/**
 * Sends the server a request without credentials, whose refusal says how to log in, and learns at which address the
 * server is. Resolves to undefined if the server does not refuse it.
 */
async function probe(
  server: URL,
  network: GuardedNetwork,
  signal: AbortSignal | undefined,
): Promise<TokenChallenge | undefined> {
  network.reachAs(server, undefined)
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const response = await network.probe(server, ping, signal)
  network.reachAs(server, response.address)
  if (response.status !== 401 && response.status !== 403) return undefined
  const challenge = challengeOf(response.headers)
  if (challenge !== undefined) return challenge
  throw new AuthError('unsupported', `${server.href} asks for another kind of authorization`)
}

async function keep(store: TokenStore, server: URL, record: TokenRecord): Promise<LoginResult> {
  await writeTokens(store, record)
  await writeLogin(store, server.href, record)
  const { issuer, resource, clientId, scopes, expiresAt, refreshToken } = record
  return {
    issuer,
    resource,
    clientId,
    scopes,
    expiresAt,
    isRenewable: refreshToken !== undefined,
  }
}

async function revokeTokens(
  record: TokenRecord,
  client: OAuthClient,
  settings: OAuthSettings,
  server: string,
): Promise<void> {
  const { issuer, hasDefaultEndpoints, accessToken, refreshToken } = record
  if (hasDefaultEndpoints) return
  const network = new GuardedNetwork(settings.network)
  await probe(new URL(server), network, undefined).catch(() => {})
  const request = { network, isStrict: settings.isStrict, signal: undefined }
  const metadata = await findServerMetadata(issuer, request)
  if (metadata.revocationEndpoint === undefined) return
  const { headers, form } = await authenticateClient(client, metadata)
  // The refresh token first: revoking it ends the whole authorization.
  const tokens = { refresh_token: refreshToken, access_token: accessToken }
  for (const [hint, token] of Object.entries(tokens)) {
    if (token === undefined) continue
    const body = new URLSearchParams({ ...form, token, token_type_hint: hint })
    await network.post(new URL(metadata.revocationEndpoint), body, headers, undefined)
  }
}
