import { afterAll, describe, expect, test } from 'vitest'
import { jwt } from '../../src/auth/index.ts'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { tokenIssuer } from '../support/issuer.ts'

const resource = 'https://tools.example.com/mcp'
const as = await tokenIssuer()

async function serve(options = {}) {
  const server = new Server({ name: 'guarded', version: '1' })
  server.tool(
    'who',
    {},
    (_, ctx) => `${ctx.caller.principal?.subject} ${ctx.headers.authorization}`,
  )
  server.tool('purge', { auth: { scopes: ['notes:write'] } }, () => 'purged')
  server.tool('audit', { auth: { roles: ['admin'] } }, () => 'audited')
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
    auth: {
      resource,
      verify: jwt({ issuer: as.issuer, jwks: as.jwks, rolesFrom: 'roles' }),
      ...options,
    },
  })
  return { server, listener, url: listener.address }
}

const guarded = await serve()
afterAll(async () => {
  await guarded.listener.close()
  await guarded.server.close()
})

const metadata =
  'resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"'

function post(url: string, token?: string, body: object = {}) {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', ...body }),
  })
}

describe.each(['2025-11-25', '2026-07-28'] as const)('a guarded server in %s', revision => {
  const client = async (claims: Record<string, unknown>) =>
    connect(guarded.url, {
      headers: { authorization: `Bearer ${await as.token({ claims })}` },
      revisions: [revision],
      websocket: false,
    })

  test('knows the principal of every request, and hides its token', async () => {
    await using ada = await client({ sub: 'ada' })
    expect((await ada.call('who')).text).toBe('ada undefined')
  })

  test('challenges a caller that lacks the scope of a tool', async () => {
    await using ada = await client({ scope: 'notes:read' })
    await using bob = await client({ scope: 'notes:read notes:write' })
    const refused = await ada.call('purge').catch(error => error)
    expect(String(refused.message)).toContain('403')
    expect((await bob.call('purge')).text).toBe('purged')
  })

  test('hides a tool from callers without the role', async () => {
    await using ada = await client({})
    await using bob = await client({ roles: ['admin'] })
    await expect(ada.call('audit')).rejects.toMatchObject({ kind: 'tool_not_found' })
    expect((await bob.call('audit')).text).toBe('audited')
  })
})

test('a request without a token is challenged', async () => {
  const response = await post(guarded.url)
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toBe(
    `Bearer ${metadata}, DPoP algs="ES256 ES384 ES512 PS256 RS256 EdDSA Ed25519"`,
  )
  expect(await response.json()).toMatchObject({
    error: { code: -32000, data: { kind: 'authentication_failed' } },
  })
})

test('the metadata are public', async () => {
  for (const path of [
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-protected-resource',
  ]) {
    const response = await fetch(new URL(path, guarded.url))
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ resource, authorization_servers: [as.issuer] })
  }
})
