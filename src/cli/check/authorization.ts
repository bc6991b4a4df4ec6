import { AuthError } from '../../auth/auth-error.ts'
import { findProtectedResource, findServerMetadata } from '../../auth/client/protocol/discovery.ts'
import { challengeOf, type TokenChallenge } from '../../auth/documents/challenge.ts'
import { isResourceOf, type ProtectedResource } from '../../auth/documents/protected-resource.ts'
import { GuardedNetwork } from '../../auth/network/guarded-network.ts'
import type { CheckContext } from './context.ts'
import { type Finding, fail, hint, notApplicable, ok, warn } from './finding.ts'
import { type RawResponse, sendHttp } from './wire/http-wire.ts'

/**
 * Step `authorization`: checks that a client without a token learns how to get one, and that tokens are not accepted
 * where they must not be. Nothing of the user's own token is sent.
 */
export async function authorization(context: CheckContext): Promise<readonly Finding[]> {
  const { endpoint } = context
  if (endpoint === undefined) return [notApplicable('the server is not reached over HTTP')]
  const refused = await postWithout(context, endpoint)
  if (refused?.status !== 401) return [notApplicable('requests without a token are not refused')]
  const field = refused.headers['www-authenticate']
  const challenge =
    field === undefined ? undefined : challengeOf(new Headers({ 'www-authenticate': field }))
  if (challenge === undefined) {
    const found = field === undefined ? 'no WWW-Authenticate' : `WWW-Authenticate: ${field}`
    return [
      fail(
        `a request without a token gets 401 with ${found}`,
        'Add a challenge of the scheme Bearer: clients cannot find out how to log in without it.',
      ),
    ]
  }
  return [
    ok('a request without a token gets 401 with a challenge'),
    ...(await documentFindings(context, endpoint, challenge)),
    await queryFinding(context, endpoint),
    ...(await originFinding(context, endpoint)),
  ]
}

/** Follows the way of a client from the challenge to the authorization servers. */
async function documentFindings(
  { signal }: CheckContext,
  server: URL,
  challenge: TokenChallenge,
): Promise<readonly Finding[]> {
  const network = new GuardedNetwork()
  network.reachAs(server, undefined)
  const looking = { network, isStrict: true, signal }
  let resource: ProtectedResource | undefined
  try {
    const request = { ...looking, server, challenge, issuer: undefined, audience: undefined }
    resource = await findProtectedResource(request)
  } catch (error) {
    const advice =
      'Publish the metadata of the resource (RFC 9728) at the address in the challenge.'
    return [failure(error, advice)]
  }
  if (resource === undefined) {
    // Servers with API keys have no authorization server, so clients must not look for one.
    return [hint('no metadata are published', 'Clients need a token that was made by hand.')]
  }
  const { resource: named, authorizationServers } = resource
  const fits = isResourceOf(named, server)
    ? ok(`the metadata of the resource are published for ${named}`)
    : fail(
        `the metadata are those of ${named}, not of ${server.href}`,
        'Set "resource" to the URL under which clients know the server: they refuse any other.',
      )
  const found: Finding[] = [fits]
  for (const issuer of authorizationServers) found.push(await issuerFinding(issuer, looking))
  return found
}

/** Checks what clients require of an authorization server. */
async function issuerFinding(
  issuer: string,
  looking: Parameters<typeof findServerMetadata>[1],
): Promise<Finding> {
  try {
    const { challengeMethods = [], sendsIssuer } = await findServerMetadata(issuer, looking)
    if (!challengeMethods.includes('S256'))
      return fail(
        `${issuer} does not list S256 in code_challenge_methods_supported`,
        'Enable PKCE at the authorization server, and list the method: clients refuse to log in without it.',
      )
    const found = `${issuer} has metadata with its own issuer and PKCE`
    if (sendsIssuer) return ok(`${found}, and names itself in responses`)
    return hint(
      `${found}, but does not promise "iss" in responses`,
      'With "iss" (RFC 9207) clients notice when a response comes from another authorization server.',
    )
  } catch (error) {
    return failure(
      error,
      'Publish the metadata of the authorization server (RFC 8414), with its exact issuer.',
    )
  }
}

/** Checks that a token in the query authorizes nothing. */
async function queryFinding(context: CheckContext, endpoint: URL): Promise<Finding> {
  const url = new URL(endpoint)
  url.searchParams.set('access_token', 'made-up')
  const response = await postWithout(context, url)
  if (response === undefined)
    return warn('no response to a token in the query', 'Reject it with 400.')
  const { status } = response
  if (status >= 400) return ok(`a token in the query is refused (${status})`)
  return fail(
    `a request with a made-up token in the query is accepted (${status})`,
    'Accept tokens in the header Authorization only: addresses end up in logs.',
  )
}

/** Checks that a web page of another origin cannot get past the check of its origin. */
async function originFinding(context: CheckContext, endpoint: URL): Promise<readonly Finding[]> {
  const response = await postWithout(context, endpoint, { origin: 'http://evil.example' })
  if (response?.status === 403) return [ok('a foreign Origin is still rejected with 403')]
  // A server may ask for a token first. With a token, the step `http` checks the origin.
  return []
}

/** Sends `tools/list` without the credentials of the user; undefined if there is no response. */
async function postWithout(
  context: CheckContext,
  url: URL,
  more: Readonly<Record<string, string>> = {},
): Promise<RawResponse | undefined> {
  const { timeoutMs } = context
  // Opens no session, and servers that let anybody initialize ask for a token here.
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...Object.fromEntries(
      Object.entries(context.headers).filter(([name]) => !secretHeader.test(name)),
    ),
    ...more,
  }
  const onEvent = (): boolean => true
  return sendHttp({ method: 'POST', url, headers, body, timeoutMs, onEvent }).catch(() => undefined)
}

/** Headers that may authorize a request. */
const secretHeader = /authorization|cookie|token|key|secret|dpop/i

function failure(error: unknown, advice: string): Finding {
  if (error instanceof AuthError) return fail(error.message, advice)
  throw error
}
