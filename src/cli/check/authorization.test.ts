import { afterEach, describe, expect, test } from 'vitest'
import { authorizationServer } from '../../../test/support/authorization-server.ts'
import { parseAddress } from '../../address.ts'
import { apiKeys } from '../../auth/index.ts'
import { listen } from '../../listen.ts'
import type { ListenOptions } from '../../listen-options.ts'
import { Server } from '../../server/server.ts'
import { devIssuer } from '../../testing/dev-issuer/dev-issuer.ts'
import { authorization } from './authorization.ts'
import { CheckContext } from './context.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Runs the step, and returns the status and the message of each finding. */
async function check(address: string, headers: Record<string, string> = {}) {
  const { signal } = new AbortController()
  const context = new CheckContext({ where: parseAddress(address), signal, headers })
  cleanUps.push(() => context.close())
  return (await authorization(context)).map(({ status, message }) => `${status}: ${message}`)
}

async function served(options: ListenOptions = {}, address = 'http://127.0.0.1:0/mcp') {
  const server = new Server({ name: 'notes', version: '1' })
  server.tool('list', {}, () => 'all')
  const listener = await listen(server, address, options)
  cleanUps.push(() => server.close())
  cleanUps.push(() => listener.close())
  return listener.address
}

describe('a server', () => {
  test('without authorization gives no alarm', async () => {
    const none = ['not applicable: requests without a token are not refused']
    expect(await check(await served())).toEqual(none)
    expect(await check(await served({}, 'tcp://127.0.0.1:0'))).toEqual([
      'not applicable: the server is not reached over HTTP',
    ])
  })

  test('with an authorization server passes, whether a token is given or not', async () => {
    const issuer = await devIssuer()
    cleanUps.push(() => issuer.close())
    const address = await served({ auth: { verify: issuer.verifier() } })
    const expected = [
      'ok: a request without a token gets 401 with a challenge',
      `ok: the metadata of the resource are published for ${address}`,
      `ok: ${issuer.issuer} has metadata with its own issuer and PKCE, and names itself in responses`,
      'ok: a token in the query is refused (400)',
      'ok: a foreign Origin is still rejected with 403',
    ]
    expect(await check(address)).toEqual(expected)
    const token = await issuer.token({ audience: address })
    expect(await check(address, { Authorization: `Bearer ${token}` })).toEqual(expected)
  })

  test('with API keys needs no metadata', async () => {
    const address = await served({ auth: { verify: apiKeys({ keys: [] }) } })
    expect(await check(address)).toEqual([
      'ok: a request without a token gets 401 with a challenge',
      'ok: no metadata are published',
      'ok: a token in the query is refused (400)',
      'ok: a foreign Origin is still rejected with 403',
    ])
  })
})

type ScriptedServer = Awaited<ReturnType<typeof authorizationServer>>

describe('a server with a mistake', () => {
  test.each<[what: string, (as: ScriptedServer) => unknown, message: RegExp]>([
    [
      'no challenge',
      as => as.routes.set('/mcp', () => ({ status: 401 })),
      /fail: .* gets 401 with no WWW-Authenticate/,
    ],
    [
      'a challenge of another scheme',
      as => Object.assign(as.challenge, { value: 'Basic realm="x"' }),
      /fail: .* gets 401 with WWW-Authenticate: Basic/,
    ],
    [
      'metadata of another resource',
      as => Object.assign(as.resourceMetadata, { resource: 'https://other.example.com/mcp' }),
      /fail: the metadata are those of https:\/\/other\.example\.com\/mcp/,
    ],
    [
      'no metadata where the challenge names them',
      as => as.routes.delete('/.well-known/oauth-protected-resource/mcp'),
      /fail: .* cannot be read/,
    ],
    [
      'an authorization server without metadata',
      as => as.routes.delete('/.well-known/oauth-authorization-server'),
      /fail: .* publishes no metadata/,
    ],
    [
      'another issuer',
      as => Object.assign(as.metadata, { issuer: 'https://other.example.com' }),
      /fail: .* are those of https:\/\/other\.example\.com/,
    ],
    [
      'no PKCE',
      as => Object.assign(as.metadata, { code_challenge_methods_supported: ['plain'] }),
      /fail: .* does not list S256/,
    ],
    [
      'an authorization server inside the local network',
      as =>
        Object.assign(as.resourceMetadata, { authorization_servers: ['https://169.254.169.254'] }),
      /fail: .*169\.254\.169\.254.* must not be used/,
    ],
    [
      'no promise of iss',
      as => Object.assign(as.metadata, { authorization_response_iss_parameter_supported: false }),
      /ok: .* does not promise "iss"/,
    ],
    [
      'a token in the query that is accepted',
      as => {
        const mcp = as.routes.get('/mcp')
        as.routes.set('/mcp', request =>
          request.query.has('access_token') ? {} : (mcp?.(request) ?? {}),
        )
      },
      /fail: a request with a made-up token in the query is accepted/,
    ],
  ])('%s', async (_, spoil, message) => {
    const as = await authorizationServer()
    cleanUps.push(() => as.close())
    spoil(as)
    expect((await check(as.url.href)).join('\n')).toMatch(message)
  })
})
