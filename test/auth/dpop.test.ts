import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DpopKey, ReceivedNonces } from '../../src/auth/client/protocol/dpop.ts'
import { memoryStore, oauth } from '../../src/auth/index.ts'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { devIssuer } from '../../src/testing/dev-issuer/dev-issuer.ts'
import { authorizedRequest } from '../support/authorization-server.ts'

const cleanUps: (() => unknown)[] = []
beforeEach(() => {
  // Tokens expire when a test says so.
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(async () => {
  vi.useRealTimers()
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A server that accepts only tokens bound to a key, its issuer, and the requests for tokens so far. */
async function guarded(dpopNonce: boolean) {
  const issuer = await devIssuer({ dpopNonce, expiresIn: 60 })
  cleanUps.push(() => issuer.close())
  const server = new Server({ name: 'guarded', version: '1' })
  server.tool('who', {}, (_, ctx) => String(ctx.caller.principal?.subject))
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
    auth: { verify: issuer.verifier(), dpop: 'require', dpopNonce },
  })
  cleanUps.push(() => server.close())
  cleanUps.push(() => listener.close())
  let logins = 0
  const browser = issuer.browser()
  const open = (page: URL) => {
    logins++
    return browser(page)
  }
  const store = memoryStore()
  const user = () => oauth({ redirect: 'http://127.0.0.1:9/callback', dpop: 'always', open, store })
  /** The tokens in the store: the key of the record, and the record. */
  const stored = async () => {
    const keys = (await store.keys?.()) ?? []
    const key = keys.find(one => one.startsWith('tokens ')) ?? ''
    return { key, record: JSON.parse((await store.get(key)) ?? '{}') }
  }
  return { issuer, url: new URL(listener.address), user, store, stored, logins: () => logins }
}

/** The status of a message without a content type, which is found out only after the caller is authenticated. */
const authenticated = 415
const expire = () => vi.setSystemTime(Date.now() + 61_000)

test.each([false, true])('bound tokens are renewed with their key (nonce: %s)', async dpopNonce => {
  const { url, user, stored, logins } = await guarded(dpopNonce)
  await using client = await connect(url.href, { auth: user() })
  const first = (await stored()).record
  for (let at = 0; at < 3; at++) {
    expire()
    expect((await client.call('who', {})).text).toBe('ada')
  }
  const last = (await stored()).record
  expect([last.tokenType, last.key]).toEqual(['DPoP', first.key])
  expect(last.accessToken).not.toBe(first.accessToken)
  expect(logins()).toBe(1)
})

test.each([false, true])('each request may renew its tokens (nonce: %s)', async dpopNonce => {
  const { url, user, logins } = await guarded(dpopNonce)
  const credentials = user()
  const statuses: number[] = []
  for (let at = 0; at < 3; at++) {
    statuses.push(await authorizedRequest(credentials, url))
    expire()
  }
  expect(statuses).toEqual([authenticated, authenticated, authenticated])
  expect(logins()).toBe(1)
})

test('a refresh token with another key is refused, and the user logs in again', async () => {
  const { issuer, url, user, store, stored, logins } = await guarded(false)
  expect(await authorizedRequest(user(), url)).toBe(authenticated)
  const { key, record } = await stored()
  const nonces = new ReceivedNonces()
  const other = await DpopKey.create(nonces)
  const endpoint = new URL('/token', issuer.issuer)
  const dpop = await other.proof({ method: 'POST', url: endpoint })
  const { clientId, refreshToken } = record
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId }
  const body = new URLSearchParams(form)
  const refused = await fetch(endpoint, { method: 'POST', headers: { dpop }, body })
  expect(await refused.json()).toMatchObject({ error: 'invalid_grant' })

  await store.set(key, JSON.stringify({ ...record, key: other.jwk }))
  expire()
  expect(await authorizedRequest(user(), url)).toBe(authenticated)
  expect(logins()).toBe(2)
})
