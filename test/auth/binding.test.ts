import { afterAll, describe, expect, test } from 'vitest'
import { jwt } from '../../src/auth/index.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { tokenIssuer } from '../support/issuer.ts'

const resource = 'https://tools.example.com/mcp'
const [as, other] = [await tokenIssuer(), await tokenIssuer('https://other.example.com', 'o1')]

const server = new Server({ name: 'guarded', version: '1' }, { pageSize: 1 })
server.tool('scopes', {}, (_, ctx) => ctx.caller.principal?.scopes?.join(' ') ?? '')
server.tool('hidden', { auth: { roles: ['admin'] } }, () => 'hidden')
server.tool('last', {}, () => 'last')
server.tool('slow', { task: 'optional' }, () => 'the secret of its owner')
server.tool('purge', {}, (_, ctx) => {
  ctx.require('notes:read', 'notes:delete')
  return 'purged'
})
const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
  auth: {
    resource,
    implies: { 'notes:write': ['notes:read'] },
    verify: [
      jwt({ issuer: as.issuer, jwks: as.jwks, rolesFrom: 'roles' }),
      jwt({ issuer: other.issuer, jwks: other.jwks, rolesFrom: 'roles' }),
    ],
  },
})
afterAll(async () => {
  await listener.close()
  await server.close()
})

interface Sent {
  readonly method?: string
  readonly session?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

async function send(token: string, { method = 'POST', session, headers, body }: Sent) {
  const response = await fetch(listener.address, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      ...(body && { 'content-type': 'application/json' }),
      ...(session !== undefined && { 'mcp-session-id': session }),
      ...headers,
    },
    ...(body && { body: JSON.stringify({ jsonrpc: '2.0', ...body }) }),
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream) await response.body?.cancel()
  const text = isStream ? '' : await response.text()
  const json = text === '' ? undefined : JSON.parse(text)
  return { status: response.status, headers: response.headers, json }
}

async function openSession(token: string): Promise<string> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  }
  const { headers } = await send(token, { body: { id: 0, method: 'initialize', params } })
  const session = headers.get('mcp-session-id') ?? ''
  await send(token, { session, body: { method: 'notifications/initialized' } })
  return session
}

const inSession = { accept: 'application/json' }
const call = (name: string, more: object = {}) => ({
  id: 1,
  method: 'tools/call',
  params: { name, ...more },
})

const strangers = [
  ['another user', await as.token({ claims: { sub: 'bob' } })],
  ['the same user of another issuer', await other.token({ claims: { sub: 'ada' } })],
] as const

describe.each(strangers)('for %s', (_, stranger) => {
  test.each([
    ['POST', { body: call('scopes') }],
    ['GET', { method: 'GET' }],
    ['GET with Last-Event-ID', { method: 'GET', headers: { 'last-event-id': '1' } }],
    ['DELETE', { method: 'DELETE' }],
  ])('a session does not exist: %s', async (_name, sent) => {
    const ada = await as.token()
    const session = await openSession(ada)
    const foreign = await send(stranger, { session, ...sent })
    const unknown = await send(stranger, { session: 'f'.repeat(session.length), ...sent })
    expect(foreign.status).toBe(404)
    expect(foreign.json).toEqual(unknown.json)
    // It is still there for its owner.
    expect((await send(ada, { session, body: call('scopes') })).status).toBe(200)
  })

  test('a task does not exist', async () => {
    const ada = await as.token()
    const session = await openSession(ada)
    const begun = await send(ada, {
      session,
      headers: inSession,
      body: call('slow', { task: { ttl: 60_000 } }),
    })
    const { taskId } = begun.json.result.task
    const theirs = await openSession(stranger)
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      const body = { id: 2, method, params: { taskId } }
      const { json } = await send(stranger, { session: theirs, headers: inSession, body })
      expect(json.error).toMatchObject({ code: -32602 })
      expect(JSON.stringify(json)).not.toContain('secret')
    }
  })

  test('a cursor of a list that depends on the caller is invalid', async () => {
    const list = async (token: string, session: string, cursor?: string) =>
      (
        await send(token, {
          session,
          headers: inSession,
          body: { id: 1, method: 'tools/list', params: { ...(cursor && { cursor }) } },
        })
      ).json
    const ada = await as.token({ claims: { roles: ['admin'] } })
    const mine = await openSession(ada)
    const { nextCursor } = (await list(ada, mine)).result
    const theirs = await openSession(stranger)
    expect((await list(stranger, theirs, nextCursor)).error).toMatchObject({ code: -32602 })
    expect((await list(ada, mine, nextCursor)).result.tools).toHaveLength(1)
  })
})

test('another token of the same user continues a session, with the scopes of each request', async () => {
  const [first, second] = await Promise.all(
    ['notes:read', 'notes:write'].map(scope => as.token({ claims: { scope } })),
  )
  const session = await openSession(first ?? '')
  const text = async (token = '') => {
    const { json } = await send(token, { session, headers: inSession, body: call('scopes') })
    return json.result.content[0].text
  }
  expect(await text(first)).toBe('notes:read')
  expect(await text(second)).toBe('notes:write notes:read')
})

test('code that requires scopes makes the response a challenge with all of them', async () => {
  const token = await as.token({ claims: { scope: 'notes:read' } })
  const session = await openSession(token)
  const { status, headers, json } = await send(token, {
    session,
    headers: inSession,
    body: call('purge'),
  })
  expect(status).toBe(403)
  expect(headers.get('www-authenticate')).toContain(
    'Bearer error="insufficient_scope", scope="notes:read notes:delete", resource_metadata=',
  )
  expect(json).toMatchObject({ id: 1, error: { data: { kind: 'insufficient_permissions' } } })
})

test('a tool that a caller may not see answers like one that does not exist', async () => {
  const token = await as.token()
  const session = await openSession(token)
  const [hidden, unknown] = await Promise.all(
    ['hidden', 'absent'].map(name =>
      send(token, { session, headers: inSession, body: call(name) }),
    ),
  )
  expect(hidden?.status).toBe(unknown?.status)
  expect(JSON.stringify(hidden?.json)).toBe(
    JSON.stringify(unknown?.json).replaceAll('absent', 'hidden'),
  )
})
