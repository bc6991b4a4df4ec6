import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  authorizationServer,
  authorizedRequest,
} from '../../../test/support/authorization-server.ts'
import { limits } from '../../util/limits/limits.ts'
import type { AuthError, AuthErrorCode } from '../auth-error.ts'
import { oauth } from './oauth.ts'
import type { OAuthOptions } from './options.ts'

let as: Awaited<ReturnType<typeof authorizationServer>>
beforeEach(async () => {
  as = await authorizationServer()
})
afterEach(() => as.close())

const redirect = 'http://127.0.0.1:9/callback'
const user = (options: OAuthOptions = {}) => oauth({ redirect, open: as.open, ...options })

async function failure(options: OAuthOptions = {}): Promise<AuthError> {
  return authorizedRequest(user(options), as.url).then(
    status => Promise.reject(new Error(`it was answered with ${status}`)),
    (error: AuthError) => error,
  )
}

test('a user logs in once, with PKCE and the resource in both requests', async () => {
  const credentials = user()
  expect(credentials.identity).toBe('')
  expect(await authorizedRequest(credentials, as.url)).toBe(200)
  expect(await authorizedRequest(credentials, as.url)).toBe(200)
  const [page, ...more] = as.at('/authorize')
  const [token] = as.at('/token')
  expect(more).toEqual([])
  expect(page?.query.get('code_challenge_method')).toBe('S256')
  expect(page?.query.get('code_challenge')).toMatch(/^[\w-]{43}$/)
  expect(page?.query.get('resource')).toBe(`${as.origin}/mcp`)
  expect(token?.form.get('resource')).toBe(`${as.origin}/mcp`)
  expect(token?.form.get('code_verifier')).toMatch(/^[\w-]{43}$/)
  expect(credentials.identity).not.toBe('')
})

test('the resource is sent exactly as the metadata spell it', async () => {
  as.resourceMetadata.resource = as.origin
  expect(await authorizedRequest(user(), as.url)).toBe(200)
  expect(as.at('/authorize')[0]?.query.get('resource')).toBe(as.origin)
})

test('the resource of the options replaces it, and false sends none', async () => {
  await authorizedRequest(user({ resource: 'https://other.example/api' }), as.url)
  await authorizedRequest(user({ resource: false }), as.url)
  const sent = as.at('/token').map(({ form }) => form.get('resource'))
  expect(sent).toEqual(['https://other.example/api', null])
})

test('a client that was registered by hand is never registered again', async () => {
  as.metadata.client_id_metadata_document_supported = true
  const clientMetadataUrl = 'https://app.example/client.json'
  const credentials = user({ clientId: 'by-hand', clientSecret: 's', clientMetadataUrl })
  expect(await authorizedRequest(credentials, as.url)).toBe(200)
  expect(as.at('/register')).toEqual([])
  expect(as.at('/authorize')[0]?.query.get('client_id')).toBe('by-hand')
  expect(as.at('/token')[0]?.headers.authorization).toBe(`Basic ${btoa('by-hand:s')}`)
})

test('the URL of a metadata document comes before dynamic registration', async () => {
  as.metadata.client_id_metadata_document_supported = true
  const clientMetadataUrl = 'https://app.example/client.json'
  expect(await authorizedRequest(user({ clientMetadataUrl }), as.url)).toBe(200)
  expect(as.at('/register')).toEqual([])
  expect(as.at('/authorize')[0]?.query.get('client_id')).toBe(clientMetadataUrl)
})

test('without a way to ask a user nothing is opened, and the error says where to log in', async () => {
  const failed = authorizedRequest(oauth(), as.url)
  await expect(failed).rejects.toMatchObject({
    code: 'login-required',
    url: as.url.href,
    issuer: as.origin,
  })
  expect(as.at('/authorize')).toEqual([])
  expect(as.at('/register')).toEqual([])
})

test('a login that nobody finishes ends after loginMs', async () => {
  const error = await failure({ open: () => {}, loginMs: 1 })
  expect(error).toMatchObject({ code: 'login-required', message: 'nobody logged in within 1 ms' })
})

type Change = () => void
const wellKnown = '/.well-known/oauth-protected-resource/mcp'
const asMetadata = '/.well-known/oauth-authorization-server'
const set =
  (members: object): Change =>
  () =>
    void Object.assign(as.metadata, members)
const resource =
  (members: object): Change =>
  () =>
    void Object.assign(as.resourceMetadata, members)
const respond =
  (path: string, status: number, body: unknown = '', headers = {}): Change =>
  () =>
    void as.routes.set(path, () => ({ status, body, headers }))
const oversized = `{"a":"${'x'.repeat(limits.metadataBytes.default)}"}`
const redirects = () => ({ location: `http://localhost:${as.url.port}/elsewhere` })

describe('bad metadata of the server fail before the authorization server is asked for anything', () => {
  const rows: readonly (readonly [string, Change, AuthErrorCode])[] = [
    ['another origin', resource({ resource: 'https://bank.example/mcp' }), 'resource-mismatch'],
    ['another port', resource({ resource: 'http://127.0.0.1:1/mcp' }), 'resource-mismatch'],
    ['a sibling path', () => resource({ resource: `${as.origin}/mc` })(), 'resource-mismatch'],
    ['a child path', () => resource({ resource: `${as.origin}/mcp/x` })(), 'resource-mismatch'],
    ['a fragment', () => resource({ resource: `${as.origin}/mcp#x` })(), 'resource-mismatch'],
    ['no resource', resource({ resource: undefined }), 'metadata'],
    ['a resource that is no URL', resource({ resource: 'mcp' }), 'metadata'],
    ['no authorization server', resource({ authorization_servers: [] }), 'metadata'],
    ['servers that are no URLs', resource({ authorization_servers: ['as', 3] }), 'metadata'],
    ['an array', respond(wellKnown, 200, []), 'metadata'],
    ['no JSON', respond(wellKnown, 200, '<html>'), 'metadata'],
    ['half a document', respond(wellKnown, 200, '{"resource":'), 'metadata'],
    ['an oversized document', respond(wellKnown, 200, oversized), 'unreachable'],
    ['a failure of the server', respond(wellKnown, 500), 'unreachable'],
    ['too many requests', respond(wellKnown, 429), 'unreachable'],
    ['a refusal', respond(wellKnown, 403), 'metadata'],
    ['nothing where the challenge points to', respond(wellKnown, 404), 'metadata'],
    [
      'a redirect to another origin',
      () => respond(wellKnown, 302, '', redirects())(),
      'unreachable',
    ],
    ['endless redirects', respond(wellKnown, 302, '', { location: wellKnown }), 'unreachable'],
    [
      'a server that hangs up',
      () => void as.routes.set(wellKnown, () => Promise.reject()),
      'unreachable',
    ],
  ]
  test.each(rows)('%s', async (_, change, code) => {
    change()
    expect(await failure()).toMatchObject({ name: 'AuthError', code })
    expect(as.seen.map(({ path }) => path).filter(path => path !== wellKnown)).toEqual(['/mcp'])
  })

  test('the address in the challenge is not a URL', async () => {
    as.challenge.value = 'Bearer resource_metadata="//"'
    expect(await failure()).toMatchObject({ code: 'metadata' })
  })
})

describe('bad metadata of the authorization server fail before anything secret is sent', () => {
  const rows: readonly (readonly [string, Change, AuthErrorCode])[] = [
    ['another issuer', set({ issuer: 'https://evil.example' }), 'issuer-mismatch'],
    [
      'an issuer in other letters',
      () => set({ issuer: as.origin.toUpperCase() })(),
      'issuer-mismatch',
    ],
    ['an issuer with a path', () => set({ issuer: `${as.origin}/tenant` })(), 'issuer-mismatch'],
    ['no issuer', set({ issuer: undefined }), 'metadata'],
    ['no token endpoint', set({ token_endpoint: undefined }), 'metadata'],
    ['a token endpoint that is no URL', set({ token_endpoint: '/token' }), 'metadata'],
    ['no JSON', respond(asMetadata, 200, 'hello'), 'metadata'],
    ['an oversized document', respond(asMetadata, 200, oversized), 'unreachable'],
    ['a failure', respond(asMetadata, 503), 'unreachable'],
    ['none at all', respond(asMetadata, 404), 'metadata'],
    [
      'a redirect to another origin',
      () => respond(asMetadata, 307, '', redirects())(),
      'unreachable',
    ],
    ['no PKCE', set({ code_challenge_methods_supported: undefined }), 'no-pkce'],
    ['only plain PKCE', set({ code_challenge_methods_supported: ['plain'] }), 'no-pkce'],
    ['no page to log in', set({ authorization_endpoint: undefined }), 'unsupported'],
    ['a page in plain text', set({ authorization_endpoint: 'http://as.example/' }), 'insecure'],
    ['a page that is a script', set({ authorization_endpoint: 'javascript:alert(1)' }), 'insecure'],
    ['a page that is a file', set({ authorization_endpoint: 'file:///etc/passwd' }), 'insecure'],
    [
      'a page with a password',
      set({ authorization_endpoint: 'https://a:b@as.example/' }),
      'insecure',
    ],
    ['no way to register', set({ registration_endpoint: undefined }), 'registration'],
    [
      'registration at a cloud',
      set({ registration_endpoint: 'https://169.254.169.254/' }),
      'insecure',
    ],
    [
      'refused registration',
      respond('/register', 400, { error: 'invalid_client_metadata' }),
      'registration',
    ],
    ['registration without an id', respond('/register', 201, {}), 'registration'],
    ['registration that fails', respond('/register', 500), 'unreachable'],
  ]
  test.each(rows)('%s', async (_, change, code) => {
    change()
    expect(await failure()).toMatchObject({ name: 'AuthError', code })
    expect(as.at('/authorize')).toEqual([])
    expect(as.at('/token')).toEqual([])
  })

  test('an issuer may differ by one slash at its end, but not with option "strict"', async () => {
    as.metadata.issuer = `${as.origin}/`
    as.metadata.authorization_response_iss_parameter_supported = false
    as.routes.set('/authorize', ({ query }) => {
      const state = query.get('state')
      return { status: 302, headers: { location: `${redirect}?code=c&state=${state}` } }
    })
    expect(await authorizedRequest(user(), as.url)).toBe(200)
    expect(await failure({ strict: true })).toMatchObject({ code: 'issuer-mismatch' })
  })

  test('the pinned issuer is the only one', async () => {
    const error = await failure({ issuer: 'https://as.example' })
    expect(error).toMatchObject({ code: 'issuer-mismatch', issuer: 'https://as.example' })
    expect(as.at(asMetadata)).toEqual([])
  })

  test('a server without metadata is not accepted with option "strict"', async () => {
    as.challenge.value = 'Bearer'
    as.routes.delete(wellKnown)
    expect(await failure({ strict: true })).toMatchObject({ code: 'metadata' })
    expect(await authorizedRequest(user(), as.url)).toBe(200)
  })
})

describe('a redirect that cannot be trusted leads to no token request', () => {
  const rows: readonly (readonly [string, (state: string) => string, AuthErrorCode])[] = [
    ['another state', () => `${redirect}?code=c&state=x&iss=${as.origin}`, 'state-mismatch'],
    ['no state', () => `${redirect}?code=c&iss=${as.origin}`, 'state-mismatch'],
    ['two states', s => `${redirect}?code=c&state=${s}&state=x&iss=${as.origin}`, 'state-mismatch'],
    [
      'another address',
      s => `http://127.0.0.1:8/callback?code=c&state=${s}&iss=${as.origin}`,
      'state-mismatch',
    ],
    [
      'another issuer',
      s => `${redirect}?code=c&state=${s}&iss=https://evil.example`,
      'issuer-mismatch',
    ],
    ['two issuers', s => `${redirect}?code=c&state=${s}&iss=${as.origin}&iss=x`, 'issuer-mismatch'],
    [
      'an issuer with a slash',
      s => `${redirect}?code=c&state=${s}&iss=${as.origin}/`,
      'issuer-mismatch',
    ],
    ['no issuer', s => `${redirect}?code=c&state=${s}`, 'issuer-mismatch'],
    [
      'an error without issuer',
      s => `${redirect}?error=access_denied&state=${s}`,
      'issuer-mismatch',
    ],
    ['an error', s => `${redirect}?error=access_denied&state=${s}&iss=${as.origin}`, 'denied'],
    ['no code', s => `${redirect}?state=${s}&iss=${as.origin}`, 'token'],
    ['two codes', s => `${redirect}?code=a&code=b&state=${s}&iss=${as.origin}`, 'token'],
  ]
  test.each(rows)('%s', async (_, callback, code) => {
    const open = (page: URL) => new URL(callback(page.searchParams.get('state') ?? ''))
    expect(await failure({ open })).toMatchObject({ name: 'AuthError', code })
    expect(as.at('/token')).toEqual([])
  })
})

describe('a bad answer of the token endpoint is no token', () => {
  const good = { access_token: 'a', token_type: 'Bearer' }
  const rows: readonly (readonly [string, number, unknown, AuthErrorCode])[] = [
    ['no JSON', 200, 'hello', 'token'],
    ['an array', 200, [], 'token'],
    ['an error with status 200', 200, { ...good, error: 'invalid_grant' }, 'token'],
    ['no token', 200, { token_type: 'Bearer' }, 'token'],
    ['a token that would begin a header', 200, { ...good, access_token: 'a\r\nx: y' }, 'token'],
    ['no type', 200, { access_token: 'a' }, 'token'],
    ['another type', 200, { ...good, token_type: 'mac' }, 'token'],
    ['a lifetime that is no number', 200, { ...good, expires_in: 'soon' }, 'token'],
    ['an oversized answer', 200, oversized, 'unreachable'],
    ['an error', 400, { error: 'invalid_request', error_description: 'no\u0007' }, 'token'],
    ['a failure', 502, '', 'unreachable'],
    ['a redirect', 302, '', 'token'],
  ]
  test.each(rows)('%s', async (_, status, body, code) => {
    as.routes.set('/token', () => ({ status, body, headers: status === 302 ? redirects() : {} }))
    const error = await failure()
    expect(error).toMatchObject({ name: 'AuthError', code })
    expect(error.message).not.toContain('\u0007')
    expect(as.at('/token')).toHaveLength(1)
    expect(as.at('/elsewhere')).toEqual([])
  })

  test.each([
    ['201', 201, { ...good, scope: null, refresh_token: null, expires_in: '60' }],
    ['a type in small letters', 200, { ...good, token_type: 'bearer' }],
  ])('%s is accepted', async (_, status, body) => {
    as.routes.set('/token', () => ({ status, body }))
    as.routes.set('/mcp', ({ headers }) => ({
      status: headers.authorization === 'Bearer a' ? 200 : 401,
    }))
    expect(await authorizedRequest(user(), as.url)).toBe(200)
  })
})

describe('scopes', () => {
  test('come from the challenge, else from the metadata of the server', async () => {
    as.resourceMetadata.scopes_supported = ['read', 'write']
    as.metadata.scopes_supported = ['offline_access', 'everything']
    await authorizedRequest(user({ scopes: ['extra'] }), as.url)
    as.challenge.value += ', scope="read"'
    await authorizedRequest(user({ offline: false }), as.url)
    const asked = as.at('/authorize').map(({ query }) => query.get('scope'))
    expect(asked).toEqual(['read write extra offline_access', 'read'])
  })

  test('are only those that the options allow', async () => {
    as.challenge.value += ', scope="read admin"'
    await authorizedRequest(user({ scopesAllowed: ['read'] }), as.url)
    expect(as.at('/authorize')[0]?.query.get('scope')).toBe('read')
  })

  test.each([
    ['too many', Array.from({ length: 1000 }, (_, at) => `s${at}`).join(' ')],
    ['too long', 's'.repeat(10_000)],
  ])('of a challenge with %s are not asked for', async (_, scope) => {
    as.challenge.value += `, scope="${scope}"`
    await authorizedRequest(user(), as.url)
    expect(as.at('/authorize')[0]?.query.get('scope')).toBeNull()
  })
})

describe('credentials belong to one server', () => {
  test('another server gets nothing of them', async () => {
    const credentials = user()
    await authorizedRequest(credentials, as.url)
    const other = await authorizationServer()
    await expect(authorizedRequest(credentials, other.url)).rejects.toMatchObject({
      code: 'resource-mismatch',
    })
    expect(other.seen).toEqual([])
    await other.close()
  })

  test('a server that changes its authorization server gets nothing of the old one', async () => {
    const other = await authorizationServer()
    const store = user({ clientId: 'by-hand', clientSecret: 'secret-1' })
    await authorizedRequest(store, as.url)
    const logged = user()
    await authorizedRequest(logged, as.url)
    const before = as.at('/token').length
    as.resourceMetadata.authorization_servers = [other.origin]
    as.expire()
    // Registered by hand: the id belongs to the first authorization server.
    await expect(authorizedRequest(store, as.url)).rejects.toMatchObject({
      code: 'issuer-mismatch',
    })
    await authorizedRequest(logged, as.url).catch(() => {})
    expect(as.at('/token')).toHaveLength(before)
    const all = JSON.stringify(
      other.seen.map(({ body, query, headers }) => [body, `${query}`, headers]),
    )
    expect(all).not.toMatch(/by-hand|secret-1|refresh-|access-/)
    expect(decodeURIComponent(all)).not.toContain(`client-of-${as.origin}`)
    await other.close()
  })
})

test.each([
  ['a secret without an id', { clientSecret: 's' }],
  ['a resource that is no URL', { resource: 'mcp' }],
  ['an issuer that is no URL', { issuer: 'as' }],
  ['a metadata URL without a path', { clientMetadataUrl: 'https://app.example' }],
  ['a metadata URL in plain text', { clientMetadataUrl: 'http://app.example/a' }],
  ['an address without open', { redirect: 'http://127.0.0.1/' }],
  ['an unknown option', { clientID: 'x' }],
  ['an unknown mode', { dpop: 'maybe' }],
])('%s is a TypeError', (_, options) => {
  // The check: each row is invalid on purpose.
  expect(() => oauth(options as OAuthOptions)).toThrow(TypeError)
})
