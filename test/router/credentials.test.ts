// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { login } from '../../src/auth/client/login/login.ts'
import { bearer } from '../../src/auth/client/machine/bearer.ts'
import { fileStore } from '../../src/auth/client/store/file-store.ts'
import { apiKeys, newApiKey } from '../../src/auth/server/verifiers/api-keys.ts'
import { connect, listen } from '../../src/index.ts'
import { readConfig } from '../../src/router/config/read.ts'
import { Router } from '../../src/router/router.ts'
import { protectedServer } from '../support/protected-server.ts'

let as: Awaited<ReturnType<typeof protectedServer>>
beforeEach(async () => {
  as = await protectedServer()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await as.close()
})

/** Serves a router of a file with one server to a caller who has an API key; resolves to what the server sees. */
async function seenBehind(auth: unknown, env: Record<string, string> = {}): Promise<string> {
  const text = JSON.stringify({ mcpServers: { it: { url: as.url.href, auth } } })
  const { servers } = readConfig(text, { env })
  await using router = new Router({ servers })
  const { key, record } = await newApiKey('ada')
  const verify = apiKeys({ keys: [record] })
  await using listener = await listen(router, 'http://127.0.0.1:0/mcp', { auth: { verify } })
  await using client = await connect(listener.address, {
    auth: bearer(key),
    headers: { 'x-upstream-authorization': `Bearer ${key}` },
  })
  const { text: seen } = await client.call('it__whoami')
  // Nothing of the caller reaches the server, in whatever header or body.
  expect(JSON.stringify(as.seen)).not.toContain(key)
  return seen
}

test('a token of the environment is sent, and never that of a caller', async () => {
  const login = await as.routes.get('/token')?.({ form: new URLSearchParams() } as never)
  expect(login?.body).toMatchObject({ access_token: 'access-1' })
  expect(await seenBehind({ bearer: '${TOKEN}' }, { TOKEN: 'access-1' })).toBe('Bearer access-1')
})

test('client credentials get a token for the router', async () => {
  const client = { issuer: as.origin, clientId: 'router', clientSecret: '${SECRET}' }
  const seen = await seenBehind({ clientCredentials: client }, { SECRET: 'hush-hush' })
  expect(seen).toBe('Bearer access-1')
  expect(as.at('/token').map(({ form }) => form.get('grant_type'))).toEqual(['client_credentials'])
})

test('stored tokens are those of a login on this machine', async () => {
  const state = mkdtempSync(join(tmpdir(), 'trunkline-router-'))
  onTestFinished(() => rmSync(state, { recursive: true, force: true }))
  vi.stubEnv('XDG_STATE_HOME', state)
  const redirect = 'http://127.0.0.1:9/callback'
  await login(as.url, { store: fileStore(), redirect, open: as.open })
  expect(await seenBehind('stored')).toBe('Bearer access-1')
})

test.each([
  ['a secret in the file', { url: 'http://x', auth: { bearer: 'abc' } }, 'must be a reference'],
  ['two ways', { url: 'http://x', auth: { bearer: '${T}', clientCredentials: {} } }, 'one of'],
  ['half a client', { url: 'http://x', auth: { clientCredentials: {} } }, 'issuer and clientId'],
  ['a program', { command: 'x', auth: 'stored' }, 'auth applies to addresses only'],
  ['a socket', { url: 'tcp://127.0.0.1:1', auth: 'stored' }, 'HTTP and WebSocket addresses'],
  [
    'a header as well',
    { url: 'http://x', auth: 'stored', headers: { authorization: 'a' } },
    'both given; use one',
  ],
])('%s is refused', (_, it, message) => {
  const read = () => readConfig(JSON.stringify({ mcpServers: { it } }), { env: { T: 't' } })
  expect(read).toThrow(message)
})

test('auth of another host is ignored, with a warning or note', () => {
  const it = { url: 'http://x', auth: { CLIENT_ID: 'abc' } }
  const { servers, warnings, notes } = readConfig(JSON.stringify({ mcpServers: { it } }), {
    env: {},
  })
  expect(servers.it?.auth).toBeUndefined()
  expect([...warnings, ...notes].map(({ message }) => message).join()).toContain('of another host')
})
