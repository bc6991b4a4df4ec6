import { jsonResponse, OAuthProblem } from './oauth-response.ts'
import type { TokenContext } from './token-endpoint.ts'

/** Answers an introspection request (RFC 7662), which only a client that authenticates may send. */
export async function introspectionResponse(
  request: Request,
  form: URLSearchParams,
  { issuer, clients, tokens, grants }: TokenContext,
): Promise<Response> {
  const client = await clients.authenticate(request, form, [issuer, `${issuer}/introspect`])
  if (client.authMethod === 'none')
    throw new OAuthProblem(
      'invalid_client',
      'introspection needs a client with a secret or a key',
      {
        status: 401,
      },
    )
  const claims = await tokens.read(form.get('token') ?? '')
  if (claims === undefined || !isActive(claims, grants)) return jsonResponse({ active: false })
  const { cnf } = claims
  const token_type = cnf === undefined ? 'Bearer' : 'DPoP'
  return jsonResponse({ active: true, token_type, ...claims })
}

/** Answers a revocation request (RFC 7009). A client can revoke only its own tokens. */
export async function revocationResponse(
  request: Request,
  form: URLSearchParams,
  { issuer, clients, tokens, grants }: TokenContext,
): Promise<Response> {
  const client = await clients.authenticate(request, form, [issuer, `${issuer}/revoke`])
  const token = form.get('token') ?? ''
  const jti = (await tokens.read(token))?.jti
  grants.revoke(token, typeof jti === 'string' ? jti : undefined, client.clientId)
  return new Response(null, { status: 200, headers: { 'cache-control': 'no-store' } })
}

function isActive(
  { jti }: Readonly<Record<string, unknown>>,
  grants: TokenContext['grants'],
): boolean {
  return grants.isActive(typeof jti === 'string' ? jti : undefined)
}
