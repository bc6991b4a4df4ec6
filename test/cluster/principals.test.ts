import { afterEach, expect, test } from 'vitest'
import { apiKeys, newApiKey } from '../../src/auth/index.ts'
import { memory } from '../../src/backplane/memory/memory.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import type { Listener } from '../../src/transport/listener.ts'

const open: Listener[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map(listener => listener.close()))
})

const ada = await newApiKey('ada', { scopes: ['notes:read'] })
const bob = await newApiKey('bob', { scopes: ['notes:read', 'notes:write'] })

async function twoNodes() {
  const backplane = memory()
  const addresses: string[] = []
  for (const name of ['a', 'b']) {
    const server = new Server({ name: 'guarded', version: '1' })
    server.tool('who', {}, (_, ctx) => `${ctx.caller.principal?.id} at ${name}`)
    server.tool('headers', {}, (_, ctx) => Object.keys(ctx.headers ?? {}).join(' '))
    server.tool('purge', { auth: { scopes: ['notes:write'] } }, () => 'purged')
    const auth = { verify: apiKeys({ keys: [ada.record, bob.record] }) }
    const listener = await listen(server, 'http://127.0.0.1:0/mcp', { backplane, auth })
    open.push(listener)
    addresses.push(listener.address)
  }
  const [a = '', b = ''] = addresses
  return { a, b }
}

function send(address: string, key: string, session: string | undefined, message: object) {
  return fetch(address, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== undefined && { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
}

async function openAs(address: string, key: string): Promise<string> {
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const response = await send(address, key, undefined, { id: 0, method: 'initialize', params })
  await response.text()
  const session = response.headers.get('mcp-session-id') ?? ''
  await send(address, key, session, { method: 'notifications/initialized' })
  return session
}

async function call(address: string, key: string, session: string, name: string) {
  const params = { name, arguments: {} }
  const response = await send(address, key, session, { id: 1, method: 'tools/call', params })
  return { status: response.status, text: await response.text() }
}

test('the owner of a session knows the caller that another node has authenticated', async () => {
  const { a, b } = await twoNodes()
  const session = await openAs(a, ada.key)
  const { status, text } = await call(b, ada.key, session, 'who')
  expect([status, text]).toEqual([200, expect.stringMatching(/ada.* at a/)])
})

test('a session does not exist for another caller, at any node', async () => {
  const { a, b } = await twoNodes()
  const session = await openAs(a, ada.key)
  for (const node of [a, b]) expect((await call(node, bob.key, session, 'who')).status).toBe(404)
})

test('a caller that is not authenticated is refused before anything is forwarded', async () => {
  const { a, b } = await twoNodes()
  const session = await openAs(a, ada.key)
  expect((await call(b, 'tlk_unknown_key', session, 'who')).status).toBe(401)
})

test('scopes are checked by the owner, and the challenge reaches the client', async () => {
  const { a, b } = await twoNodes()
  const session = await openAs(a, ada.key)
  const { status, text } = await call(b, ada.key, session, 'purge')
  expect([status, text]).toEqual([403, expect.stringContaining('insufficient')])
  const other = await openAs(a, bob.key)
  expect((await call(b, bob.key, other, 'purge')).status).toBe(200)
})

test('credentials do not travel to the owner as headers', async () => {
  const { a, b } = await twoNodes()
  const session = await openAs(a, ada.key)
  const { text } = await call(b, ada.key, session, 'headers')
  expect(text).toContain('content-type')
  expect(text).not.toContain('authorization')
})
