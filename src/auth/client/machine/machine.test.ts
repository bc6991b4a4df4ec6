import { exportJWK, exportPKCS8, generateKeyPair, importJWK, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  authorizationServer,
  authorizedRequest,
} from '../../../../test/support/authorization-server.ts'
import type { Credentials } from '../../../mcp/credentials.ts'
import type { AuthErrorCode } from '../../auth-error.ts'
import { bearer } from './bearer.ts'
import { clientCredentials } from './client-credentials.ts'
import { enterprise } from './enterprise.ts'
import { workload } from './workload.ts'

let as: Awaited<ReturnType<typeof authorizationServer>>
beforeEach(async () => {
  as = await authorizationServer()
})
afterEach(async () => {
  vi.useRealTimers()
  await as.close()
})

const secret = { clientId: 'program', clientSecret: 's' }
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const idJag = 'urn:ietf:params:oauth:token-type:id-jag'

describe('client credentials', () => {
  test('authenticate with a secret, and ask for tokens anew ahead of their expiry', async () => {
    as.resourceMetadata.scopes_supported = ['read']
    const credentials = clientCredentials(secret)
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    const [asked, ...more] = as.at('/token')
    expect(more).toEqual([])
    expect(asked?.headers.authorization).toBe(`Basic ${btoa('program:s')}`)
    expect(Object.fromEntries(asked?.form ?? [])).toEqual({
      grant_type: 'client_credentials',
      resource: `${as.origin}/mcp`,
      scope: 'read',
    })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_550_000 })
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(as.at('/token')).toHaveLength(2)
    expect(as.at('/register')).toEqual([])
  })

  test.each(['PEM text', 'a JWK', 'a CryptoKey'])('authenticate with a key as %s', async form => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const forms = new Map<string, Parameters<typeof clientCredentials>[0]['privateKey']>([
      ['PEM text', await exportPKCS8(privateKey)],
      ['a JWK', { ...(await exportJWK(privateKey)), alg: 'ES256', kid: 'k' }],
      ['a CryptoKey', privateKey],
    ])
    const credentials = clientCredentials({ clientId: 'program', privateKey: forms.get(form) })
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    const assertion = as.at('/token')[0]?.form.get('client_assertion') ?? ''
    const { payload } = await jwtVerify(
      assertion,
      await importJWK(await exportJWK(publicKey), 'ES256'),
    )
    expect(payload).toMatchObject({ iss: 'program', sub: 'program', aud: as.origin })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60)
  })

  test('are one request for all calls at the same time', async () => {
    const credentials = clientCredentials(secret)
    const all = Array.from({ length: 100 }, () => authorizedRequest(credentials, as.url))
    expect(new Set(await Promise.all(all))).toEqual(new Set([200]))
    expect(as.at('/token')).toHaveLength(1)
  })

  test('ask for more scopes once, and then give up', async () => {
    const credentials = clientCredentials(secret)
    as.require('write')
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(as.at('/token').map(({ form }) => form.get('scope'))).toEqual([null, 'write'])
    as.routes.set('/token', () => ({ body: { access_token: 'x', token_type: 'Bearer' } }))
    as.expire()
    await expect(authorizedRequest(credentials, as.url)).rejects.toMatchObject({ code: 'denied' })
  })

  test('are sent to no authorization server but the pinned one, or the first', async () => {
    const pinned = clientCredentials({ ...secret, issuer: 'https://as.example' })
    await expect(authorizedRequest(pinned, as.url)).rejects.toMatchObject({
      code: 'issuer-mismatch',
    })
    const credentials = clientCredentials(secret)
    await authorizedRequest(credentials, as.url)
    const other = await authorizationServer()
    as.resourceMetadata.authorization_servers = [other.origin]
    as.expire()
    await expect(authorizedRequest(credentials, as.url)).rejects.toMatchObject({
      code: 'issuer-mismatch',
    })
    expect(other.at('/token')).toEqual([])
    await other.close()
  })
})

describe('a workload', () => {
  test('exchanges the token of its platform, which is read each time', async () => {
    const asked: unknown[] = []
    const assertion = (request: object) => `jwt-${asked.push(request)}`
    const credentials = workload({ clientId: 'job', assertion })
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    as.expire()
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(as.at('/token').map(({ form }) => form.get('assertion'))).toEqual(['jwt-1', 'jwt-2'])
    expect(as.at('/token')[0]?.form.get('grant_type')).toBe(jwtBearer)
    expect(asked[0]).toEqual({ issuer: as.origin, resource: `${as.origin}/mcp` })
  })

  test('tries nothing else if its assertion is refused', async () => {
    as.routes.set('/token', () => ({ status: 400, body: { error: 'invalid_grant' } }))
    const credentials = workload({ clientId: 'job', assertion: () => 'jwt' })
    await expect(authorizedRequest(credentials, as.url)).rejects.toMatchObject({
      code: 'token',
      error: 'invalid_grant',
    })
    expect(as.at('/token')).toHaveLength(1)
  })
})

describe('a user of an enterprise', () => {
  const idp = (answer: object = {}, status = 200) => {
    const body = {
      access_token: 'id-jag-1',
      issued_token_type: idJag,
      token_type: 'N_A',
      ...answer,
    }
    as.routes.set('/idp', () => ({ status, body }))
    return { tokenEndpoint: `${as.origin}/idp`, clientId: 'at-idp' }
  }
  const expired = `e30.${btoa(JSON.stringify({ exp: 1 }))}.x`

  test('gets an assertion from the identity provider, and a token for it', async () => {
    const credentials = enterprise({ ...secret, idp: idp(), idToken: 'id-token' })
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(Object.fromEntries(as.at('/idp')[0]?.form ?? [])).toMatchObject({
      requested_token_type: idJag,
      audience: as.origin,
      resource: `${as.origin}/mcp`,
      subject_token: 'id-token',
      client_id: 'at-idp',
    })
    expect(as.at('/token')[0]?.form.get('assertion')).toBe('id-jag-1')
    expect(as.at('/token')[0]?.body).not.toContain('id-token')
  })

  const rows: readonly (readonly [string, object, number, string | undefined, AuthErrorCode])[] = [
    ['no ID token', {}, 200, undefined, 'login-required'],
    ['an ID token that has expired', {}, 200, expired, 'login-required'],
    ['an access token instead', { issued_token_type: 'urn:x' }, 200, 'i', 'token'],
    ['a refusal', { error: 'access_denied' }, 400, 'i', 'token'],
    ['a failure', {}, 500, 'i', 'unreachable'],
  ]
  test.each(rows)('with %s gets no token', async (_, answer, status, idToken, code) => {
    const credentials = enterprise({ ...secret, idp: idp(answer, status), idToken: () => idToken })
    await expect(authorizedRequest(credentials, as.url)).rejects.toMatchObject({ code })
    expect(as.at('/token')).toEqual([])
  })
})

describe('a bearer token', () => {
  const guard = (token: string) =>
    as.routes.set('/mcp', ({ headers }) => ({
      status: headers.authorization === `Bearer ${token}` ? 200 : 401,
    }))

  test('is sent, and a refused one is final', async () => {
    guard('key')
    expect(await authorizedRequest(bearer('key'), as.url)).toBe(200)
    await expect(authorizedRequest(bearer('old'), as.url)).rejects.toMatchObject({ code: 'denied' })
    expect(as.seen.filter(({ path }) => path !== '/mcp')).toEqual([])
  })

  test('of a function is read each time, and again after a refusal', async () => {
    const tokens = ['old', 'key', 'key']
    const credentials = bearer(async () => tokens.shift() ?? 'key')
    guard('key')
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    const before = credentials.identity
    guard('other')
    tokens.push('other', 'other')
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(credentials.identity).not.toBe(before)
  })

  test('is sent to one server only', async () => {
    guard('key')
    const credentials = bearer('key')
    await authorizedRequest(credentials, as.url)
    const server = new URL('https://other.example/')
    const send = () => credentials.headers({ method: 'GET', url: server, server })
    expect(send).toThrow(/belong to/)
  })

  test.each(['', 'a b', 'a\r\nx: y', 'é', 3])('%j cannot be sent', token => {
    // The check: each row is invalid on purpose.
    expect(() => bearer(token as string)).toThrow(TypeError)
  })
})

test.each<readonly [string, () => Credentials]>([
  ['client credentials without a secret', () => clientCredentials({ clientId: 'x' })],
  [
    'client credentials without an id',
    () => clientCredentials({ clientId: '', clientSecret: 's' }),
  ],
  ['an issuer that is no URL', () => clientCredentials({ ...secret, issuer: 'as' })],
  ['an unknown option', () => clientCredentials({ ...secret, ...{ secret: 's' } })],
  ['a workload without an assertion', () => workload({ clientId: 'x' } as never)],
  ['an enterprise without an identity provider', () => enterprise({ ...secret } as never)],
  [
    'an identity provider without an address',
    () => enterprise({ ...secret, idp: { clientId: 'x' }, idToken: 'i' }),
  ],
])('%s is a TypeError', (_, make) => {
  expect(make).toThrow(TypeError)
})
