import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  authorizationServer,
  authorizedRequest,
} from '../../../../test/support/authorization-server.ts'
import type { Principal } from '../../../jsonrpc/channel.ts'
import { rememberCallerToken } from '../../caller-tokens.ts'
import { type IdJagOptions, idJag } from './id-jag.ts'

let as: Awaited<ReturnType<typeof authorizationServer>>
beforeEach(async () => {
  as = await authorizationServer()
  as.routes.set('/idp', ({ form }) => {
    const type = form.get('requested_token_type')
    const issued = `${type?.split(':').at(-1)}-of-${form.get('subject_token')}`
    return { body: { access_token: issued, issued_token_type: type, token_type: 'N_A' } }
  })
})
afterEach(() => as.close())

const acting = (options: Partial<IdJagOptions> = {}) =>
  idJag({
    clientId: 'router',
    clientSecret: 's',
    issuer: as.origin,
    idp: { tokenEndpoint: `${as.origin}/idp`, clientId: 'at-idp', clientSecret: 'i' },
    ...options,
  })

function caller(id: string, more: Partial<Principal> = {}): Principal {
  const principal = { id, ...more }
  rememberCallerToken(principal, id)
  return principal
}

const assertions = () => as.at('/token').map(({ form }) => form.get('assertion'))

describe('the identity provider vouches for a caller', () => {
  test('by the ID token that it issues for the token of the caller', async () => {
    const all = acting()
    for (const id of ['ada', 'bob', 'ada']) {
      expect(await authorizedRequest(all.for(caller(id), as.url), as.url)).toBe(200)
    }
    expect(assertions()).toEqual(['id-jag-of-id_token-of-ada', 'id-jag-of-id_token-of-bob'])
    // The server and its authorization server never see the token of the caller.
    const types = as.at('/idp').map(({ form }) => form.get('subject_token_type')?.split(':').at(-1))
    expect(types).toEqual(['access_token', 'id_token', 'access_token', 'id_token'])
  })

  test('by the ID token in a claim', async () => {
    const all = acting({ idTokenFrom: 'idt' })
    const ada = caller('ada', { claims: { idt: 'mine' } })
    expect(await authorizedRequest(all.for(ada, as.url), as.url)).toBe(200)
    expect(assertions()).toEqual(['id-jag-of-mine'])
  })

  test.each<readonly [string, Principal, Partial<IdJagOptions>]>([
    ['a token', { id: 'key:ada' }, {}],
    ['the claim', { id: 'ada', claims: {} }, { idTokenFrom: 'idt' }],
    ['a claim of its own', { id: 'ada', claims: {} }, { idTokenFrom: 'constructor' }],
  ])('but not for a caller without %s', async (_, principal, options) => {
    const sent = authorizedRequest(acting(options).for(principal, as.url), as.url)
    await expect(sent).rejects.toMatchObject({ code: 'login-required' })
    expect(as.at('/token')).toEqual([])
  })

  test('and nothing else is sent if it refuses', async () => {
    as.routes.set('/idp', () => ({ status: 400, body: { error: 'access_denied' } }))
    const sent = authorizedRequest(acting().for(caller('ada'), as.url), as.url)
    await expect(sent).rejects.toMatchObject({ code: 'token' })
    expect(as.at('/token')).toEqual([])
    expect(as.at('/mcp').map(({ headers }) => headers.authorization)).toEqual([undefined])
  })
})

test.each<readonly [string, object]>([
  ['an identity provider', { clientId: 'x', clientSecret: 's', issuer: 'https://as.example' }],
  ['its token endpoint', { clientId: 'x', clientSecret: 's', idp: { clientId: 'y' } }],
])('without %s there are no credentials', (_, options) => {
  // The check: each row is invalid on purpose.
  expect(() => idJag(options as never)).toThrow(TypeError)
})
