import { describe, expect, test, vi } from 'vitest'
import { tokenIssuer } from '../../../test/support/issuer.ts'
import type { AuthCache, AuthRequest } from '../../mcp/authenticator.ts'
import type { AuthDecision } from './auth-options.ts'
import { authenticator } from './authenticator.ts'
import { verifier } from './verifier.ts'
import { type ApiKeySource, apiKeys, newApiKey } from './verifiers/api-keys.ts'
import { certificate } from './verifiers/certificate.ts'
import { introspection } from './verifiers/introspection.ts'
import { jwt } from './verifiers/jwt.ts'

const resource = 'https://tools.example.com/mcp'
const as = await tokenIssuer()

/** A request on a connection, as the transport describes it. */
function request(
  headers: Readonly<Record<string, string | readonly string[]>>,
  more: Partial<AuthRequest> = {},
): AuthRequest {
  return {
    method: 'POST',
    path: '/mcp',
    query: '',
    values: name => [headers[name] ?? []].flat(),
    address: () => '192.0.2.1',
    ...more,
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** API keys that a test can change. */
async function changingKeys() {
  const { key, record } = await newApiKey('ada')
  let records = [record]
  const source: ApiKeySource = { current: () => records }
  const revoke = (): void => {
    records = []
    source.onChange?.()
  }
  return { key, source, revoke }
}

describe('what a connection remembers', () => {
  test('does not outlive a key that was revoked', async () => {
    const { key, source, revoke } = await changingKeys()
    const auth = authenticator({ verify: apiKeys({ keys: source }) })
    const authCache: AuthCache = {}
    const again = () => auth.authenticate(request(bearer(key), { authCache }))
    await again()
    expect(again()).toMatchObject({ principal: { id: 'key:ada' } })
    revoke()
    expect(await again()).toMatchObject({ status: 401 })
  })

  test('does not outlive what was forgotten', async () => {
    let isWelcome = true
    const check = verifier(() => (isWelcome ? { id: 'ada' } : undefined), {
      name: 'own',
      cacheMs: 60_000,
    })
    const auth = authenticator({ verify: check })
    const authCache: AuthCache = {}
    const again = () => auth.authenticate(request(bearer('t'), { authCache }))
    await again()
    isWelcome = false
    expect(again()).toMatchObject({ principal: { id: 'own:ada' } })
    auth.forget('own:ada')
    expect(await again()).toMatchObject({ status: 401 })
  })

  test('is not used by another authenticator on the same connection', async () => {
    const verify = jwt({ issuer: as.issuer, jwks: as.jwks })
    const open = authenticator({ resource, verify })
    const strict = authenticator({ resource, verify, scopes: ['admin'] })
    const authCache: AuthCache = {}
    const same = request(bearer(await as.token()), { authCache })
    expect(await open.authenticate(same)).toMatchObject({ principal: { subject: 'ada' } })
    expect(await strict.authenticate(same)).toMatchObject({ status: 403 })
  })

  test('does not hide a second credential', async () => {
    const auth = authenticator({ resource, verify: jwt({ issuer: as.issuer, jwks: as.jwks }) })
    const authCache: AuthCache = {}
    const headers = bearer(await as.token())
    await auth.authenticate(request(headers, { authCache }))
    const twice = request(headers, { authCache, query: 'access_token=other' })
    expect(auth.authenticate(twice)).toMatchObject({ status: 400 })
  })

  test('is not kept for a token that was verified while its key was revoked', async () => {
    const { key, source, revoke } = await changingKeys()
    const auth = authenticator({ verify: apiKeys({ keys: source }) })
    const authCache: AuthCache = {}
    const first = auth.authenticate(request(bearer(key), { authCache }))
    revoke()
    await first
    expect(await auth.authenticate(request(bearer(key), { authCache }))).toMatchObject({
      status: 401,
    })
  })
})

test('a key that is revoked is refused by every listener that shares its verifier', async () => {
  const { key, source, revoke } = await changingKeys()
  const verify = apiKeys({ keys: source })
  const listeners = [authenticator({ verify }), authenticator({ verify })]
  // A verifier of its own for the same file.
  listeners.push(authenticator({ verify: apiKeys({ keys: source }) }))
  for (const auth of listeners) await auth.authenticate(request(bearer(key)))
  revoke()
  for (const auth of listeners) {
    expect(await auth.authenticate(request(bearer(key)))).toMatchObject({ status: 401 })
  }
})

describe('a key in a header of its own', async () => {
  const { key, record } = await newApiKey('ada')
  const keys = apiKeys({ keys: [record], header: 'X-Notes-Key' })

  test('is accepted, and reported as a header with credentials', async () => {
    const auth = authenticator({ verify: keys })
    expect(auth.credentialHeaders).toEqual(['x-notes-key'])
    expect(await auth.authenticate(request({ 'x-notes-key': key }))).toMatchObject({
      principal: { id: 'key:ada' },
    })
  })

  test.each([
    ['together with another credential', { 'x-notes-key': key, ...bearer('other') }],
    ['twice', { 'x-notes-key': [key, key] }],
    ['empty', { 'x-notes-key': '' }],
    ['too long', { 'x-notes-key': 'a'.repeat(9000) }],
  ])('is refused %s', (_, headers) => {
    const auth = authenticator({ verify: keys })
    expect(auth.authenticate(request(headers))).toMatchObject({
      status: 400,
      headers: { 'www-authenticate': 'Bearer error="invalid_request"' },
    })
  })

  test('admits nobody by the header that came with it', async () => {
    const auth = authenticator({ verify: keys })
    const authCache: AuthCache = {}
    await auth.authenticate(request({ 'x-notes-key': key, ...bearer('x') }, { authCache }))
    expect(await auth.authenticate(request(bearer('x'), { authCache }))).toMatchObject({
      status: 401,
    })
  })
})

test('API keys and JSON Web Tokens never go to a verifier that accepts every form', async () => {
  const { key, record } = await newApiKey('ada')
  const asked: string[] = []
  const general = [
    introspection({
      issuer: 'https://other.example.com',
      endpoint: 'https://other.example.com/introspect',
      clientId: 'tools',
      clientSecret: 'secret',
      network: async (_, { body }) => {
        asked.push(String(body))
        return { status: 200, headers: new Headers(), text: '{"active":false}' }
      },
    }),
    verifier(
      token => {
        asked.push(token)
        return undefined
      },
      { name: 'own' },
    ),
  ]
  const auth = authenticator({
    resource,
    verify: [...general, apiKeys({ keys: [record] }), jwt({ issuer: as.issuer, jwks: as.jwks })],
  })
  for (const token of [key, await as.token()]) {
    expect(await auth.authenticate(request(bearer(token)))).toHaveProperty('principal')
  }
  expect(asked).toEqual([])
})

describe('onDecision', () => {
  const decided = (options = {}) => {
    const decisions: AuthDecision[] = []
    const auth = authenticator({
      resource,
      verify: verifier(
        token => {
          if (token === 'down') throw new Error('no database')
          return token === 'good' ? { id: 'ada' } : undefined
        },
        { name: 'own', cacheMs: 60_000 },
      ),
      methods: { 'tools/call': ['call'] },
      onDecision: decision => decisions.push(decision),
      ...options,
    })
    return { auth, decisions }
  }

  test('gets every decision once, also those that are remembered and those about messages', async () => {
    const { auth, decisions } = decided()
    const authCache: AuthCache = {}
    for (const token of ['good', 'good', 'bad', 'down']) {
      await auth.authenticate(request(bearer(token), { authCache }))
    }
    auth.authorize('tools/call', { id: 'own:ada', verifier: 'own' })
    const ada = { principal: 'own:ada', verifier: 'own' }
    expect(decisions).toEqual([
      { outcome: 'admitted', ...ada },
      { outcome: 'admitted', ...ada },
      { outcome: 'refused', status: 401, reason: 'it is unknown' },
      { outcome: 'refused', status: 503, reason: 'no database' },
      { outcome: 'refused', status: 403, reason: 'it needs call', ...ada },
    ])
  })

  test('that throws changes no decision', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => {})
    const onDecision = () => {
      throw new Error('the log is full')
    }
    const { auth } = decided({ onDecision })
    expect(await auth.authenticate(request(bearer('good')))).toHaveProperty('principal')
    expect(await auth.authenticate(request({}))).toMatchObject({ status: 401 })
    expect(print).toHaveBeenCalledTimes(2)
    print.mockRestore()
  })
})

test('a function for certificates that throws lets nobody pass', async () => {
  const principal = () => {
    throw new Error('no directory')
  }
  const auth = authenticator({ certificates: certificate({ principal }) })
  const presented = { sha256: 'ab', names: [] }
  expect(auth.authenticate(request({}, { certificate: presented }))).toMatchObject({ status: 503 })
})

test.each(['client-cert', 'x-client-cert', 'x-forwarded-client-cert', 'x-ssl-client-cert'])(
  'a certificate in the header %s proves nothing',
  async header => {
    const auth = authenticator({ certificates: certificate() })
    const presented = request({ [header]: ':MIIB:' })
    expect(await auth.authenticate(presented)).toMatchObject({ status: 401 })
  },
)

describe('a verifier of the application', () => {
  const until = (expiresAt: number) =>
    verifier(() => ({ id: 'ada', expiresAt }), { name: 'own', cacheMs: 3_600_000 }).verify('t', {
      method: 'POST',
      path: '/mcp',
      audiences: [],
      certificate: undefined,
    })

  test('caches no principal beyond its expiry', async () => {
    const expiresAt = Date.now() + 60_000
    expect(await until(expiresAt)).toMatchObject({ until: expiresAt })
  })

  test('that returns an expired principal lets nobody pass', async () => {
    await expect(until(Date.now() - 1)).rejects.toMatchObject({ isExpired: true })
  })
})

test('a token that introspection binds to a certificate needs the certificate', async () => {
  const sha256 = 'ab'.repeat(32)
  const x5t = Buffer.from(sha256, 'hex').toString('base64url')
  const about = (cnf: object) =>
    authenticator({
      resource,
      verify: introspection({
        issuer: as.issuer,
        endpoint: 'https://as.example.com/introspect',
        clientId: 'tools',
        clientSecret: 'secret',
        network: async () => ({
          status: 200,
          headers: new Headers(),
          text: JSON.stringify({ active: true, sub: 'ada', aud: resource, exp: 9e9, cnf }),
        }),
      }),
    })
  const bound = about({ 'x5t#S256': x5t })
  expect(await bound.authenticate(request(bearer('t')))).toMatchObject({ status: 401 })
  const holder = request(bearer('t'), { certificate: { sha256, names: [] } })
  expect(await bound.authenticate(holder)).toHaveProperty('principal')
  const unknown = about({ other: 'x' })
  expect(await unknown.authenticate(request(bearer('t')))).toMatchObject({ status: 401 })
})

describe('a token that is bound to a key', async () => {
  const verify = jwt({ issuer: as.issuer, jwks: as.jwks })
  const token = await as.token({ claims: { cnf: { jkt: 'x'.repeat(43) } } })

  test.each([
    ['as Bearer', bearer(token)],
    ['without a proof', { authorization: `DPoP ${token}` }],
    ['with two proofs', { authorization: `DPoP ${token}`, dpop: ['a.b.c', 'a.b.c'] }],
  ])('%s lets nobody pass', async (_, headers) => {
    const guard = authenticator({ resource, verify })
    expect(await guard.authenticate(request(headers))).toMatchObject({ status: 401 })
    // The second time the token is known.
    expect(await guard.authenticate(request(headers))).toMatchObject({ status: 401 })
  })
})
