import { idJagType, idTokenType } from '../../auth/client/machine/enterprise.ts'
import { readScopes, scopeText } from '../../auth/documents/scope.ts'
import { OAuthProblem } from './oauth-response.ts'
import type { IdentityProviderKeys } from './options.ts'
import type { AccessTokens } from './tokens/access-tokens.ts'

/** The `typ` of an assertion to another authorization server. */
const idJagTyp = 'oauth-id-jag+jwt'

/** What the assertion of an identity provider says. */
export interface Assertion {
  readonly sub: string
  readonly resource: string
  readonly scopes: readonly string[]
}

/** Answers the exchange of an access token for an ID token of its user. */
export async function idTokenFor(
  sub: string,
  clientId: string,
  tokens: AccessTokens,
): Promise<object> {
  return assertionResponse(await tokens.makeIdToken(sub, clientId, undefined), idTokenType)
}

/**
 * Answers the exchange of an ID token for an assertion to another authorization server (ID-JAG), where the client must have
 * the same id. Rejects with an OAuthProblem.
 */
export async function idJagFor(
  form: URLSearchParams,
  clientId: string,
  resource: string,
  tokens: AccessTokens,
): Promise<object> {
  const audience = form.get('audience')
  if (audience === null)
    throw new OAuthProblem('invalid_request', '"audience" is missing: the other issuer')
  if (form.get('subject_token_type') !== idTokenType)
    throw new OAuthProblem('invalid_request', `subject_token_type must be ${idTokenType}`)
  const { sub } = (await tokens.readIdToken(form.get('subject_token') ?? '', clientId)) ?? {}
  if (typeof sub !== 'string')
    throw new OAuthProblem('invalid_grant', 'the ID token is invalid, or of another client')
  const scope = scopeText(readScopes(form.get('scope')) ?? [])
  const claims = { scope, resource }
  const header = { typ: idJagTyp }
  const token = await tokens.make({ sub, audience, client: clientId, claims, header })
  return assertionResponse(token, idJagType)
}

function assertionResponse(token: string, type: string): object {
  return { access_token: token, issued_token_type: type, token_type: 'N_A' }
}

/** Reads the assertion of a trusted identity provider for a client of this issuer. Rejects with an OAuthProblem. */
export async function readIdJag(
  text: string,
  clientId: string,
  tokens: AccessTokens,
  provider: IdentityProviderKeys,
): Promise<Assertion> {
  const claims = await tokens.readOf(text, provider, { typ: idJagTyp, audience: tokens.issuer })
  const { sub, client_id: client, resource, scope } = claims ?? {}
  if (typeof sub !== 'string' || typeof resource !== 'string' || client !== clientId)
    throw new OAuthProblem('invalid_grant', 'the assertion is invalid, or for another client')
  return { sub, resource, scopes: readScopes(scope) ?? [] }
}
