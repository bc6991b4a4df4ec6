import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  authorizationServer,
  authorizedRequest,
} from '../../../../test/support/authorization-server.ts'
import { tokenIssuer } from '../../../../test/support/issuer.ts'
import type { Principal } from '../../../jsonrpc/channel.ts'
import { rememberCallerToken } from '../../caller-tokens.ts'
import { CredentialsByCaller } from './credentials-by-caller.ts'
import { type ExchangeOptions, exchange } from './exchange.ts'

let as: Awaited<ReturnType<typeof authorizationServer>>
beforeEach(async () => {
  as = await authorizationServer()
})
afterEach(async () => {
  vi.useRealTimers()
  await as.close()
})

const secret = { clientId: 'router', clientSecret: 's' }
const acting = (options: Partial<ExchangeOptions> = {}) =>
  exchange({ ...secret, issuer: as.origin, ...options })

function caller(id: string, more: Partial<Principal> = {}, token = `token-of-${id}`): Principal {
  const principal = Object.freeze({ id, ...more })
  rememberCallerToken(principal, token)
  return principal
}

const subjects = () => as.at('/token').map(({ form }) => form.get('subject_token'))

describe('a token exchange', () => {
  test('never sends the token of the caller to the server', async () => {
    const credentials = acting().for(caller('ada'), as.url)
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(Object.fromEntries(as.at('/token')[0]?.form ?? [])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: 'token-of-ada',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      resource: `${as.origin}/mcp`,
    })
    expect(JSON.stringify(as.at('/mcp').map(({ headers }) => headers))).not.toContain('of-ada')
  })

  test('names the router as the actor, and the audience, if the options say so', async () => {
    const options = { actorToken: () => 'mine', audience: 'orders', scopes: ['read'] }
    await authorizedRequest(acting(options).for(caller('ada'), as.url), as.url)
    expect(Object.fromEntries(as.at('/token')[0]?.form ?? [])).toMatchObject({
      actor_token: 'mine',
      audience: 'orders',
      scope: 'read',
    })
  })

  test('gives each caller tokens of its own, and reads the metadata once', async () => {
    const all = acting()
    for (const id of ['ada', 'bob', 'ada'])
      await authorizedRequest(all.for(caller(id), as.url), as.url)
    expect(subjects()).toEqual(['token-of-ada', 'token-of-bob'])
    expect(as.at('/.well-known/oauth-authorization-server')).toHaveLength(1)
    const sent = as.at('/mcp').map(({ headers }) => headers.authorization)
    expect(sent).toEqual(['Bearer access-1', 'Bearer access-2', 'Bearer access-1'])
  })

  test.each<readonly [string, Partial<Principal>]>([
    ['client', { client: 'app' }],
    ['scopes', { scopes: ['read'] }],
    ['roles', { roles: ['guest'] }],
  ])('does not share tokens between tokens of one user with other %s', async (_, more) => {
    const all = acting()
    await authorizedRequest(all.for(caller('ada', {}, 'first'), as.url), as.url)
    await authorizedRequest(all.for(caller('ada', more, 'second'), as.url), as.url)
    expect(subjects()).toEqual(['first', 'second'])
  })

  test('asks no server where the token goes', async () => {
    as.resourceMetadata.authorization_servers = ['https://evil.example']
    await authorizedRequest(acting().for(caller('ada'), as.url), as.url)
    expect(as.at('/.well-known/oauth-protected-resource/mcp')).toEqual([])
  })

  test('does not accept the token of the caller, or one for the same audience', async () => {
    const issuer = await tokenIssuer()
    const token = await issuer.token()
    const same = await issuer.token({ claims: { aud: ['https://tools.example.com/mcp', 'x'] } })
    for (const answer of [token, same]) {
      as.routes.set('/token', () => ({ body: { access_token: answer, token_type: 'Bearer' } }))
      const credentials = acting().for(caller('ada', {}, token), as.url)
      await expect(authorizedRequest(credentials, as.url)).rejects.toMatchObject({ code: 'token' })
    }
    expect(as.at('/mcp')).toEqual([])
  })

  test('is repeated with the newest token when that of the caller has expired', async () => {
    const all = acting()
    const now = Date.now()
    const [first, second] = [
      caller('ada', { expiresAt: now + 60_000 }, 'first'),
      caller('ada', { expiresAt: now + 600_000 }, 'second'),
    ]
    await authorizedRequest(all.for(first, as.url), as.url)
    expect(all.for(second, as.url)).toBe(all.for(first, as.url))
    await authorizedRequest(all.for(second, as.url), as.url)
    vi.useFakeTimers({ toFake: ['Date'], now: now + 61_000 })
    await authorizedRequest(all.for(first, as.url), as.url)
    expect(subjects()).toEqual(['first', 'second'])
  })

  test('that is refused sends nothing else', async () => {
    as.routes.set('/token', () => ({ status: 400, body: { error: 'invalid_target' } }))
    const credentials = acting().for(caller('ada'), as.url)
    await expect(authorizedRequest(credentials, as.url)).rejects.toMatchObject({ code: 'token' })
    expect(as.at('/mcp')).toEqual([])
  })

  test('asks for the scopes of a challenge once', async () => {
    as.require('write')
    const credentials = acting().for(caller('ada'), as.url)
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(as.at('/token').map(({ form }) => form.get('scope'))).toEqual([null, 'write'])
  })

  test('fails for a caller without a token, and asks nobody', async () => {
    const credentials = acting().for({ id: 'key:ada' }, as.url)
    const sent = authorizedRequest(credentials, as.url)
    await expect(sent).rejects.toMatchObject({ code: 'login-required' })
    expect(as.at('/token')).toEqual([])
  })
})

test('the least recently used credentials are forgotten at the limit', () => {
  let made = 0
  const make = () => ({ identity: `${++made}`, headers: () => ({}), refused: async () => false })
  const all = new CredentialsByCaller(make, 2)
  const of = (id: string) => all.for({ id }, new URL('https://a.example/mcp')).identity
  expect([of('a'), of('b'), of('a'), of('c'), of('a'), of('b')]).toEqual([
    '1',
    '2',
    '1',
    '3',
    '1',
    '4',
  ])
})

test.each<readonly [string, () => unknown]>([
  ['without an issuer', () => exchange(secret)],
  ['without a client', () => exchange({ issuer: 'https://as.example', clientId: '' })],
  ['with a token endpoint that is no URL', () => exchange({ ...secret, tokenEndpoint: 'as' })],
])('an exchange %s is a TypeError', (_, make) => {
  expect(make).toThrow(TypeError)
})
