import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import * as oauth4webapi from 'oauth4webapi'
import { afterAll, describe, expect, test } from 'vitest'
import { challengeOf, jwt } from '../../src/auth/index.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { tokenIssuer } from '../support/issuer.ts'

const resource = 'https://tools.example.com/mcp'
const as = await tokenIssuer()
const seconds = Math.floor(Date.now() / 1000)
const scope = 'mcp'

let calls = 0
const server = new Server({ name: 'guarded', version: '1' })
server.tool('count', {}, () => String(++calls))
const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
  // Every request comes from another address, because invalid tokens are counted by address.
  trustedProxies: ['127.0.0.1'],
  auth: {
    resource,
    verify: jwt({ issuer: as.issuer, jwks: as.jwks }),
    scopes: [scope],
    dpop: false,
  },
})
afterAll(async () => {
  await listener.close()
  await server.close()
})

const metadata =
  'resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"'
const invalid = (why: string) =>
  `Bearer error="invalid_token", error_description="${why}", scope="mcp", ${metadata}`

/** What a request presents, and what it gets: the status, the challenge and the kind of error. */
const tokens = [
  ['no token', undefined, 401, `Bearer scope="mcp", ${metadata}`, 'authentication_failed'],
  ['another scheme', 'Basic YTpi', 401, `Bearer scope="mcp", ${metadata}`, 'authentication_failed'],
  [
    'a malformed token',
    'Bearer a b',
    400,
    `Bearer error="invalid_request", ${metadata}`,
    'invalid_credentials',
  ],
  ['a wrong token', 'Bearer wrong', 401, invalid('the token is invalid'), 'invalid_token'],
  [
    'an expired token',
    `Bearer ${await as.token({ claims: { scope, exp: seconds - 3600 } })}`,
    401,
    invalid('the token has expired'),
    'token_expired',
  ],
  [
    'a token for another audience',
    `Bearer ${await as.token({ claims: { scope, aud: 'https://other.example.com/mcp' } })}`,
    401,
    invalid('the token is invalid'),
    'invalid_token',
  ],
  [
    'a token without the scope',
    `Bearer ${await as.token({ claims: { scope: 'other' } })}`,
    403,
    `Bearer error="insufficient_scope", scope="mcp", ${metadata}`,
    'insufficient_permissions',
  ],
] as const

const good = `Bearer ${await as.token({ claims: { scope } })}`

interface Route {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  /** The path of the server's URL, as a client of the route knows it; `/mcp` by default. */
  readonly known?: string
  /** The status with a good token. */
  readonly status: number
}

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'count' } }
const stateless = {
  ...call,
  params: {
    ...call.params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}
const initialize = (protocolVersion: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})
const none = 'f'.repeat(32)
const sessions = ['2025-03-26', '2025-06-18', '2025-11-25']

const routes: readonly Route[] = [
  {
    name: 'POST of a call in 2026-07-28',
    method: 'POST',
    path: '/mcp',
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'count',
    },
    body: stateless,
    status: 200,
  },
  ...sessions.flatMap((revision): Route[] => {
    const headers = { 'mcp-protocol-version': revision, 'mcp-session-id': none }
    const at = { path: '/mcp', status: 404, headers }
    return [
      {
        name: `POST of initialize in ${revision}`,
        method: 'POST',
        path: '/mcp',
        body: initialize(revision),
        status: 200,
      },
      { ...at, name: `POST in a session of ${revision}`, method: 'POST', body: call },
      { ...at, name: `GET in a session of ${revision}`, method: 'GET' },
      { ...at, name: `DELETE in a session of ${revision}`, method: 'DELETE' },
    ]
  }),
  {
    name: 'GET of the HTTP+SSE pair of 2024-11-05',
    method: 'GET',
    path: '/sse',
    known: '/sse',
    status: 200,
  },
  {
    name: 'POST of the HTTP+SSE pair of 2024-11-05',
    method: 'POST',
    path: `/messages?sessionId=${none}`,
    known: '/sse',
    body: call,
    status: 404,
  },
  {
    name: 'the handshake of a WebSocket',
    method: 'GET',
    path: '/mcp',
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
    status: 101,
  },
  { name: 'a method that is not served', method: 'PUT', path: '/mcp', status: 405 },
]

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

let lastAddress = 0
const anotherAddress = () => `2001:db8:0:${(++lastAddress).toString(16)}::1`

/** Sends a request. Of a response that goes on, only the head is read. */
async function send(route: Route, authorization?: string): Promise<Answer> {
  const { method, path, body } = route
  const url = new URL(path, listener.address)
  const outgoing = httpRequest(url, {
    method,
    agent: false,
    headers: {
      accept: 'application/json, text/event-stream',
      'x-forwarded-for': anotherAddress(),
      ...(body && { 'content-type': 'application/json' }),
      ...route.headers,
      ...(authorization !== undefined && { authorization }),
    },
  })
  const upgraded = once(outgoing, 'upgrade').then(([response, socket]) => {
    socket.destroy()
    return response
  })
  const answered = once(outgoing, 'response').then(([response]) => response)
  upgraded.catch(() => {})
  answered.catch(() => {})
  outgoing.end(body && JSON.stringify(body))
  const response: IncomingMessage = await Promise.race([answered, upgraded])
  const { statusCode: status = 0, headers } = response
  const isWhole = status !== 101 && headers['content-type'] !== 'text/event-stream'
  let text = ''
  if (isWhole) for await (const chunk of response.setEncoding('utf8')) text += chunk
  outgoing.destroy()
  return { status, headers, body: text }
}

describe.each(routes)('$name', route => {
  test.each(tokens)('with %s', async (_, authorization, status, challenge, kind) => {
    const before = calls
    const answer = await send(route, authorization)
    const expected = challenge.replace('resource/mcp"', `resource${route.known ?? '/mcp'}"`)
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([status, expected])
    // The response to a handshake has no body.
    if (answer.body !== '') {
      expect(JSON.parse(answer.body)).toMatchObject({
        id: null,
        error: { code: -32000, data: { kind } },
      })
    }
    expect(calls).toBe(before)
  })

  test('with a good token', async () => {
    const { status, headers } = await send(route, good)
    expect([status, headers['www-authenticate']]).toEqual([route.status, undefined])
    if (status !== 101) {
      expect(headers['cache-control']).toMatch(/no-store|no-cache/)
      expect(headers.vary).toContain('authorization')
    }
  })
})

test('a token in the query is refused, also beside a good one', async () => {
  const route = {
    ...(routes[0] as Route),
    path: `/mcp?access_token=${good.slice('Bearer '.length)}`,
  }
  for (const authorization of [undefined, good]) {
    expect(await send(route, authorization)).toMatchObject({
      status: 400,
      headers: { 'www-authenticate': `Bearer error="invalid_request", ${metadata}` },
    })
  }
})

test('an address with too many invalid tokens has to wait; others and known tokens do not', async () => {
  const [post] = routes as readonly [Route]
  const from = (address: string) => ({
    ...post,
    headers: { ...post.headers, 'x-forwarded-for': address },
  })
  const address = anotherAddress()
  await send(from(address), good)
  for (let at = 0; at < limits.tokenFailures.default; at++) {
    expect((await send(from(address), `Bearer wrong${at}`)).status).toBe(401)
  }
  const { status, headers } = await send(from(address), 'Bearer wrong')
  expect([status, headers['www-authenticate']]).toEqual([429, undefined])
  expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  expect((await send(from(address), good)).status).toBe(200)
  expect((await send(from(anotherAddress()), 'Bearer wrong')).status).toBe(401)
})

describe('the metadata', () => {
  const path = '/.well-known/oauth-protected-resource/mcp'
  const ask = (method: string) =>
    send({ name: method, method, path, status: 200 }).then(({ status, headers, body }) => ({
      status,
      headers,
      body,
    }))

  test('are public, for every website, and can be cached', async () => {
    const { status, headers, body } = await ask('GET')
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    })
    expect(JSON.parse(body)).toEqual({
      resource,
      authorization_servers: [as.issuer],
      scopes_supported: ['mcp'],
      bearer_methods_supported: ['header'],
    })
    expect(await ask('HEAD')).toMatchObject({ status: 200, body: '' })
    expect(await ask('POST')).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    })
  })

  test('are valid for another implementation', async () => {
    const { body, headers } = await ask('GET')
    const type = { 'content-type': String(headers['content-type']) }
    const response = new Response(body, { status: 200, headers: type })
    const document = await oauth4webapi.processResourceDiscoveryResponse(
      new URL(resource),
      response,
    )
    expect(document.authorization_servers).toEqual([as.issuer])
  })
})

test.each(tokens)('another implementation reads the challenge of %s', async (_, authorization) => {
  const { status, headers } = await send(routes[0] as Route, authorization)
  const response = new Response('', {
    status,
    headers: { 'www-authenticate': String(headers['www-authenticate']) },
  })
  // A protected resource request of that implementation rejects with what it has read.
  const failure = await oauth4webapi
    .protectedResourceRequest('t', 'POST', new URL(resource), undefined, undefined, {
      [oauth4webapi.customFetch]: async () => response,
    })
    .catch(error => error)
  expect(failure).toBeInstanceOf(oauth4webapi.WWWAuthenticateChallengeError)
  const [challenge] = failure.cause
  const own = challengeOf(response.headers)
  expect(challenge).toMatchObject({
    scheme: 'bearer',
    parameters: { resource_metadata: own?.resourceMetadata },
  })
  expect(challenge.parameters.error).toBe(own?.error)
})
