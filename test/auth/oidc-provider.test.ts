import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { AuthOptions, OAuthOptions } from '../../src/auth/index.ts'
import {
  clientCredentials,
  fileStore,
  jwt,
  login,
  loopback,
  oauth,
  revoke,
} from '../../src/auth/index.ts'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { oidcProvider } from '../support/oidc-provider.js'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Starts a server that accepts tokens of the authorization server, and returns both. */
async function guarded(options: Partial<AuthOptions> = {}, lifetime?: number) {
  const as = await oidcProvider(lifetime)
  cleanUps.push(() => as.close())
  const server = new Server({ name: 'notes', version: '1' })
  server.tool('who', {}, (_, ctx) => String(ctx.caller.principal?.subject))
  server.tool('purge', { auth: { scopes: ['notes:write'] } }, () => 'purged')
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
    auth: { verify: jwt({ issuer: as.issuer }), scopes: ['notes:read'], ...options },
  })
  cleanUps.push(() => server.close())
  cleanUps.push(() => listener.close())
  const user = (more: OAuthOptions = {}) =>
    oauth({ redirect: 'http://127.0.0.1:9/callback', open: as.open, ...more })
  return { as, url: listener.address, user }
}

describe.each(['2025-11-25', '2026-07-28'] as const)('in %s', revision => {
  test('a user logs in, and steps up for a tool that needs another scope', async () => {
    const { as, url, user } = await guarded()
    await using client = await connect(url, { auth: user(), revisions: [revision] })
    expect((await client.call('who', {})).text).toBe('ada')
    expect(as.grants).toEqual(['authorization_code'])
    expect((await client.call('purge', {})).text).toBe('purged')
    expect(as.grants).toEqual(['authorization_code', 'authorization_code'])
  })

  test('tokens are renewed, and the rotating refresh token is never used twice', async () => {
    const { as, url, user } = await guarded({}, 1)
    await using client = await connect(url, { auth: user(), revisions: [revision] })
    await expect
      .poll(async () => {
        const all = await Promise.all(Array.from({ length: 10 }, () => client.call('who', {})))
        expect(new Set(all.map(({ text }) => text))).toEqual(new Set(['ada']))
        return as.grants.filter(grant => grant.startsWith('refresh_token')).length
      })
      .toBeGreaterThan(2)
    expect(new Set(as.grants)).toEqual(new Set(['authorization_code', 'refresh_token']))
    expect(as.grants.filter(grant => grant === 'authorization_code')).toHaveLength(1)
  })

  test.each([false, true])(
    'tokens are bound to a key where the server says so, nonce: %s',
    async dpopNonce => {
      const { as, url, user } = await guarded({ dpop: 'require', dpopNonce })
      await using client = await connect(url, { auth: user(), revisions: [revision] })
      expect((await client.call('who', {})).text).toBe('ada')
      expect((await client.call('who', {})).text).toBe('ada')
      expect(as.grants).toEqual(['authorization_code'])
    },
  )

  test('a program authenticates with its secret', async () => {
    const { as, url } = await guarded()
    const auth = clientCredentials({
      clientId: 'program',
      clientSecret: 'a secret of the program',
      issuer: as.issuer,
    })
    await using client = await connect(url, { auth, revisions: [revision] })
    expect((await client.call('who', {})).text).toBe('program')
    expect(as.grants).toEqual(['client_credentials'])
  })
})

test('a server over a WebSocket gets the token in the handshake', async () => {
  const { as, url, user } = await guarded()
  await using client = await connect(url.replace('http:', 'ws:'), { auth: user() })
  expect((await client.call('who', {})).text).toBe('ada')
  expect(as.grants).toEqual(['authorization_code'])
})

test('calls go over a WebSocket beside HTTP with the token of the user', async () => {
  const { url, user } = await guarded()
  let isOpen = false
  const onWebSocket = (is: boolean) => {
    isOpen = is
  }
  await using client = await connect(url, { auth: user(), websocket: true, onWebSocket })
  await expect
    .poll(async () => {
      expect((await client.call('who', {})).text).toBe('ada')
      return isOpen
    })
    .toBe(true)
  expect((await client.call('who', {})).text).toBe('ada')
})

test('the tokens of a login are used by later programs, until it is revoked', async () => {
  const { as, url } = await guarded()
  const home = mkdtempSync(join(tmpdir(), 'trunkline-auth-'))
  const before = process.env.XDG_STATE_HOME
  process.env.XDG_STATE_HOME = home
  cleanUps.push(() => {
    if (before === undefined) delete process.env.XDG_STATE_HOME
    else process.env.XDG_STATE_HOME = before
    rmSync(home, { recursive: true })
  })
  const store = fileStore(process.platform === 'linux' ? undefined : join(home, 'tokens'))
  const open = async (page: URL) => void (await (await fetch(await as.open(page))).text())
  const result = await login(url, { store, redirect: loopback(), open })
  expect(result).toMatchObject({ issuer: as.issuer, resource: url, isRenewable: true })
  const auth = process.platform === 'linux' ? 'stored' : oauth({ store })
  const client = await connect(url, { auth })
  expect((await client.call('who', {})).text).toBe('ada')
  await client.close()
  expect(as.grants).toEqual(['authorization_code'])
  expect(await revoke(url, { store })).toBe(true)
  await expect(connect(url, { auth: oauth({ store }) })).rejects.toMatchObject({
    code: 'refused',
    cause: { code: 'login-required', issuer: as.issuer },
  })
})

test('a login that takes long does not run into the timeouts of calls', async () => {
  const { as, url } = await guarded()
  const clock = fakeClock()
  const open = (page: URL) => {
    clock.advance(20)
    clock.advance(299_000)
    return as.open(page)
  }
  const auth = oauth({ redirect: 'http://127.0.0.1:9/callback', open })
  await using client = await connect(url, { auth, clock })
  expect((await client.call('who', {})).text).toBe('ada')
})
