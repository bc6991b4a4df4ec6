import { AuthError } from '../../auth-error.ts'
import type { ServerMetadata } from '../../documents/server-metadata.ts'
import {
  descriptionIn,
  errorIn,
  readTokenResponse,
  type TokenResponse,
} from '../../documents/token-response.ts'
import type { GuardedNetwork } from '../../network/guarded-network.ts'
import type { NetworkResponse } from '../../network/network.ts'
import { authenticateClient, type OAuthClient } from './client-authentication.ts'
import type { DpopKey, ReceivedNonces } from './dpop.ts'

/** A request to a token endpoint. */
export interface TokenEndpointRequest {
  readonly network: GuardedNetwork
  readonly metadata: ServerMetadata
  readonly client: OAuthClient
  /** The parameters of the grant; those that are undefined are left out. */
  readonly form: Readonly<Record<string, string | undefined>>
  /** The key to bind the tokens to. */
  readonly dpop?: DpopKey
  readonly nonces: ReceivedNonces
  readonly signal: AbortSignal | undefined
}

/**
 * Requests tokens. Rejects with an AuthError: `'token'` if the authorization server refuses or its answer is invalid,
 * with its code in `error`, and `'unreachable'` if nothing can be concluded from the failure.
 */
export async function requestTokens(request: TokenEndpointRequest): Promise<TokenResponse> {
  const tokens = readTokenResponse(await requestGrant(request))
  if (request.dpop !== undefined && tokens.tokenType !== 'DPoP') {
    const words = 'the authorization server issued a token that is not bound to the key (DPoP)'
    throw new AuthError('token', words, { issuer: request.metadata.issuer })
  }
  return tokens
}

/** Requests tokens as `requestTokens` does, and resolves to the response without reading it. */
export async function requestGrant(request: TokenEndpointRequest): Promise<unknown> {
  const { metadata } = request
  const url = new URL(metadata.tokenEndpoint)
  let response = await send(url, request)
  const hasNonce = request.nonces.learn(url, response.headers.get('dpop-nonce'))
  if (request.dpop !== undefined && hasNonce && errorIn(jsonOf(response)) === 'use_dpop_nonce') {
    response = await send(url, request)
    request.nonces.learn(url, response.headers.get('dpop-nonce'))
  }
  const { status } = response
  const body = jsonOf(response)
  const { issuer } = metadata
  if (status === 200 || status === 201) {
    if (errorIn(body) === undefined) return body
  } else if (status === 429 || status >= 500 || temporary.has(errorIn(body) ?? '')) {
    throw new AuthError('unreachable', `the token endpoint of ${issuer} answered ${status}`, {
      issuer,
    })
  }
  const error = errorIn(body)
  const why = `${error ?? `it answered ${status}`}${descriptionIn(body)}`
  throw new AuthError('token', `${issuer} issues no token: ${why}`, { issuer, error })
}

/** Parses the body of a response; undefined if it is no JSON. */
export function jsonOf({ text }: NetworkResponse): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const temporary: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable'])

async function send(url: URL, request: TokenEndpointRequest): Promise<NetworkResponse> {
  const { network, metadata, client, dpop, signal } = request
  const { headers, form } = await authenticateClient(client, metadata)
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...request.form, ...form })) {
    if (value !== undefined) body.append(name, value)
  }
  const proof = await dpop?.proof({ method: 'POST', url })
  return network.post(
    url,
    body,
    proof === undefined ? headers : { ...headers, dpop: proof },
    signal,
  )
}
