import { idJagType, idTokenType } from '../../auth/client/machine/enterprise.ts'
import { jwtBearer } from '../../auth/client/machine/workload.ts'
import { isEqualSecret, sha256 } from '../../auth/client/protocol/encoding.ts'
import { readScopes } from '../../auth/documents/scope.ts'
import { stringsIn } from '../../util/objects.ts'
import { readResource } from './authorization.ts'
import type { Clients, KnownClient } from './clients.ts'
import { type DevGrant, type Grants, grantedScopes, issuerScopes } from './grants.ts'
import { idJagFor, idTokenFor, readIdJag } from './id-jag.ts'
import { jsonResponse, OAuthProblem } from './oauth-response.ts'
import type { DevIssuerSettings } from './options.ts'
import type { ProofChecker } from './proof.ts'
import type { AccessTokens } from './tokens/access-tokens.ts'

/** What the token endpoint works with. */
export interface TokenContext {
  readonly issuer: string
  readonly settings: DevIssuerSettings
  readonly clients: Clients
  readonly grants: Grants
  readonly tokens: AccessTokens
  readonly proofs: ProofChecker
}

/** A token request whose client is authenticated. */
interface TokenRequestOf {
  readonly form: URLSearchParams
  readonly client: KnownClient
  /** The thumbprint of the key of its DPoP proof. */
  readonly jkt: string | undefined
}

type GrantType = (request: TokenRequestOf, context: TokenContext) => Promise<object>

const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'

const grantTypes: ReadonlyMap<string, GrantType> = new Map([
  ['authorization_code', redeemCode],
  ['refresh_token', refresh],
  ['client_credentials', authorizeClient],
  [exchangeGrant, exchangeToken],
  [jwtBearer, acceptAssertion],
])

/** Returns the grant types of the token endpoint. */
export function grantTypesSupported({ identityProvider }: DevIssuerSettings): readonly string[] {
  const all = [...grantTypes.keys()]
  return identityProvider === undefined ? all.filter(name => name !== jwtBearer) : all
}

/** Answers a token request. Rejects with an OAuthProblem. */
export async function tokenResponse(
  request: Request,
  form: URLSearchParams,
  context: TokenContext,
): Promise<Response> {
  const { issuer, clients, proofs } = context
  for (const name of new Set(form.keys())) {
    if (form.getAll(name).length > 1 && name !== 'resource' && name !== 'audience')
      throw new OAuthProblem('invalid_request', `"${name}" is given several times`)
  }
  const client = await clients.authenticate(request, form, [issuer, `${issuer}/token`])
  const grantType = form.get('grant_type') ?? ''
  const run = grantTypes.get(grantType)
  if (run === undefined || !grantTypesSupported(context.settings).includes(grantType))
    throw new OAuthProblem('unsupported_grant_type', `"${grantType}" is not supported`)
  const jkt = await proofs.thumbprintOf(request)
  return jsonResponse(await run({ form, client, jkt }, context))
}

async function redeemCode(request: TokenRequestOf, context: TokenContext): Promise<object> {
  const { form, client, jkt } = request
  const { grants, settings } = context
  const { grant, redirectUri, challenge } = grants.redeem(form.get('code') ?? '', settings.now())
  if (grant.clientId !== client.clientId || form.get('redirect_uri') !== redirectUri)
    throw new OAuthProblem('invalid_grant', 'the code belongs to another client or redirect_uri')
  const verifier = form.get('code_verifier') ?? ''
  if (!/^[\w.~-]{43,128}$/.test(verifier) || !isEqualSecret(await sha256(verifier), challenge))
    throw new OAuthProblem('invalid_grant', 'the code_verifier does not match the code_challenge')
  checkSameResource(form, grant)
  // A public client proves by its key that a refresh token is its own.
  grant.jkt = client.authMethod === 'none' ? jkt : undefined
  return issue(grant, grant.scopes, request, context)
}

async function refresh(request: TokenRequestOf, context: TokenContext): Promise<object> {
  const { form, client, jkt } = request
  const refreshToken = form.get('refresh_token') ?? ''
  const grant = context.grants.grantOf(refreshToken, client.clientId)
  if (grant.jkt !== undefined && grant.jkt !== jkt)
    throw new OAuthProblem('invalid_grant', 'the refresh token is bound to another key')
  checkSameResource(form, grant)
  const scopes = readScopes(form.get('scope')) ?? grant.scopes
  if (!scopes.every(scope => grant.scopes.includes(scope)))
    throw new OAuthProblem('invalid_scope', 'a refresh token gives no further scopes')
  // Nothing is awaited between the lookup and here, so that of two requests with one token only one succeeds.
  context.grants.replace(refreshToken)
  return issue(grant, scopes, request, context)
}

async function authorizeClient(request: TokenRequestOf, context: TokenContext): Promise<object> {
  const { form, client } = request
  requireConfidential(client)
  const grant = {
    clientId: client.clientId,
    sub: client.clientId,
    roles: undefined,
    scopes: readScopes(form.get('scope')) ?? [],
    resource: requiredResource(form),
    isEnded: false,
  }
  return issue(grant, grant.scopes, request, context)
}

async function exchangeToken(request: TokenRequestOf, context: TokenContext): Promise<object> {
  const { form, client } = request
  requireConfidential(client)
  const wanted = form.get('requested_token_type') ?? accessTokenType
  if (wanted === idJagType)
    return idJagFor(form, client.clientId, requiredResource(form), context.tokens)
  if (form.get('subject_token_type') !== accessTokenType)
    throw new OAuthProblem('invalid_request', `subject_token_type must be ${accessTokenType}`)
  if (wanted !== accessTokenType && wanted !== idTokenType)
    throw new OAuthProblem('invalid_request', `requested_token_type must be ${accessTokenType}`)
  const subject = await context.tokens.read(form.get('subject_token') ?? '')
  const { sub, roles, scope, exp } = subject ?? {}
  if (typeof sub !== 'string' || typeof exp !== 'number')
    throw new OAuthProblem('invalid_grant', 'the subject token is invalid or has expired')
  if (wanted === idTokenType) return idTokenFor(sub, client.clientId, context.tokens)
  const user = context.settings.users.find(one => one.sub === sub) ?? { sub }
  const asked = readScopes(form.get('scope')) ?? readScopes(scope) ?? []
  const grant = {
    clientId: client.clientId,
    sub,
    roles: stringsIn(roles),
    scopes: grantedScopes(asked, user),
    resource: requiredResource(form),
    isEnded: false,
  }
  const left = exp - Math.floor(context.settings.now() / 1000)
  const lifetime = Math.min(context.settings.expiresIn, left)
  const body = await issue(grant, grant.scopes, request, context, {
    expiresIn: lifetime,
    claims: { act: { sub: client.clientId } },
  })
  return { ...body, issued_token_type: accessTokenType }
}

/** Accepts the assertion of an identity provider for one of its users. */
async function acceptAssertion(request: TokenRequestOf, context: TokenContext): Promise<object> {
  const { form, client } = request
  const { identityProvider, users } = context.settings
  requireConfidential(client)
  if (identityProvider === undefined)
    throw new OAuthProblem('invalid_grant', 'no identity provider is trusted')
  const { clientId } = client
  const text = form.get('assertion') ?? ''
  const { sub, resource, scopes } = await readIdJag(
    text,
    clientId,
    context.tokens,
    identityProvider,
  )
  const user = users.find(one => one.sub === sub) ?? { sub }
  const { roles } = user
  const granted = grantedScopes(scopes, user)
  const grant = { clientId, sub, roles, scopes: granted, resource, isEnded: false }
  checkSameResource(form, grant)
  return issue(grant, granted, request, context)
}

/** Issues an access token, and a refresh token to clients that may use one. */
async function issue(
  grant: DevGrant,
  scopes: readonly string[],
  { client, jkt, form }: TokenRequestOf,
  { tokens, grants, settings }: TokenContext,
  { expiresIn = settings.expiresIn, claims = {} }: { expiresIn?: number; claims?: object } = {},
): Promise<object> {
  const jti = crypto.randomUUID()
  const { sub, roles, resource, clientId, nonce } = grant
  const isOfUser = ['authorization_code', 'refresh_token'].includes(form.get('grant_type') ?? '')
  const isRenewable = isOfUser && client.grantTypes.includes('refresh_token')
  // Before anything is awaited: the new refresh token exists as soon as the old one is replaced.
  const refreshToken = isRenewable ? grants.addRefreshToken(grant) : undefined
  grants.addAccessToken(jti, grant)
  const accessToken = await tokens.make({
    sub,
    scopes: scopes.filter(scope => !issuerScopes.includes(scope)),
    audience: resource,
    client: clientId,
    expiresIn,
    ...(roles && { roles }),
    ...(jkt !== undefined && { jkt }),
    claims: { jti, ...claims },
  })
  const isOpenId = isOfUser && scopes.includes('openid')
  return {
    access_token: accessToken,
    token_type: jkt === undefined ? 'Bearer' : 'DPoP',
    expires_in: expiresIn,
    scope: scopes.join(' '),
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    ...(isOpenId && { id_token: await tokens.makeIdToken(sub, clientId, nonce) }),
  }
}

function checkSameResource(form: URLSearchParams, { resource }: DevGrant): void {
  if (form.getAll('resource').some(asked => asked !== resource))
    throw new OAuthProblem('invalid_target', `the authorization is for ${resource}`)
}

function requiredResource(form: URLSearchParams): string {
  const resource = readResource(form)
  if (resource instanceof OAuthProblem) throw resource
  return resource
}

function requireConfidential({ authMethod }: KnownClient): void {
  if (authMethod === 'none')
    throw new OAuthProblem('unauthorized_client', 'the client must authenticate for this grant')
}
