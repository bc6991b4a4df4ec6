import { exportJWK, generateKeyPair } from 'jose'
import { afterEach, describe, expect, test } from 'vitest'
import { randomText, sha256 } from '../../auth/client/protocol/encoding.ts'
import {
  clientCredentials,
  exchange,
  InvalidToken,
  introspection,
  oauth,
} from '../../auth/index.ts'
import { connect } from '../../connect.ts'
import { listen } from '../../listen.ts'
import { Server } from '../../server/server.ts'
import { limits } from '../../util/limits/limits.ts'
import { type DevIssuer, devIssuer } from './dev-issuer.ts'
import type { DevIssuerOptions } from './options.ts'
import { tokenFaults } from './tokens/token-faults.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function started(options: DevIssuerOptions = {}): Promise<DevIssuer> {
  const issuer = await devIssuer(options)
  cleanUps.push(() => issuer.close())
  return issuer
}

const resource = 'https://tools.example.com/mcp'
const redirect = 'http://127.0.0.1:9/callback'
const request = { method: 'POST', path: '/mcp', audiences: [resource], certificate: undefined }
type Body = Record<'error' | 'access_token' | 'refresh_token' | 'client_id' | 'active', string>

/** Reads the JSON object of a response. */
const bodyOf = async (response: Response) => (await response.json()) as Body
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

const post = (url: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', headers, body: new URLSearchParams(form) })

async function register({ issuer }: DevIssuer, more: object = {}) {
  const body = { redirect_uris: [redirect], token_endpoint_auth_method: 'none', ...more }
  const response = await fetch(`${issuer}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_types: ['authorization_code', 'refresh_token'], ...body }),
  })
  return { status: response.status, ...(await bodyOf(response)) }
}

/** The authorization request of a registered client. */
async function pageOf(issuer: DevIssuer, changed: Record<string, string | undefined> = {}) {
  const { client_id } = await register(issuer)
  const verifier = randomText()
  const page = new URL(`${issuer.issuer}/authorize`)
  const all = {
    response_type: 'code',
    client_id,
    redirect_uri: redirect,
    state: 'the state',
    scope: 'notes:read',
    resource,
    code_challenge: await sha256(verifier),
    code_challenge_method: 'S256',
    ...changed,
  }
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined) page.searchParams.set(name, value)
  }
  return { page, verifier, clientId: client_id as string }
}

async function coded(issuer: DevIssuer) {
  const { page, verifier, clientId } = await pageOf(issuer)
  const back = await issuer.browser()(page)
  const form = {
    grant_type: 'authorization_code',
    code: back.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: redirect,
    client_id: clientId,
    resource,
  }
  const redeem = (changed: Record<string, string> = {}) =>
    post(`${issuer.issuer}/token`, { ...form, ...changed })
  return { redeem, clientId, back }
}

describe('options', () => {
  test.each([
    'http://0.0.0.0:0',
    'http://192.168.1.1:80',
    'https://127.0.0.1:0',
    'http://127.0.0.1.example.com',
    'http://127.0.0.1:0/path',
    'tcp://127.0.0.1:1',
    '',
  ])('an address such as %j is refused, because anybody could log in', async address => {
    await expect(devIssuer({ address })).rejects.toThrow(
      /devIssuer: "address" must be on this machine/,
    )
  })

  test.each([
    [{ users: [] }, /"users" must be a list/],
    [{ clients: [{ clientId: '' }] }, /needs a "clientId"/],
    [{ issuer: 'https://as.example.com' }, /requires address: false/],
    [{ adress: 'x' }, /unknown option/],
  ])('%j is refused', async (options, message) => {
    await expect(devIssuer(options as DevIssuerOptions)).rejects.toThrow(message)
  })

  test.each(['http://localhost:0', 'http://[::1]:0'])('listens at %s', async address => {
    const { issuer } = await started({ address })
    const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()
    expect(metadata).toMatchObject({ issuer, authorization_response_iss_parameter_supported: true })
  })
})

describe('tokens without HTTP', () => {
  test('a token says what was asked for', async () => {
    const issuer = await devIssuer({ address: false, users: [{ sub: 'bob', roles: ['ops'] }] })
    const token = await issuer.token({ sub: 'bob', scopes: ['a', 'b'], audience: resource })
    const { principal } = await issuer.verifier().verify(token, request)
    expect(principal).toMatchObject({
      id: `${issuer.issuer} bob`,
      scopes: ['a', 'b'],
      roles: ['ops'],
    })
    const { iat, exp } = claimsOf(token)
    expect(exp - iat).toBe(300)
    const other = await issuer.token({
      audience: resource,
      roles: ['x'],
      claims: { tenant: 'acme' },
    })
    expect(claimsOf(other)).toMatchObject({ sub: 'ada', roles: ['x'], tenant: 'acme' })
  })

  test('the audience has a default, or is required', async () => {
    const issuer = await devIssuer({ address: false })
    await expect(issuer.token()).rejects.toThrow('token() needs "audience"')
    const known = await devIssuer({ address: false, audience: resource })
    expect(claimsOf(await known.token()).aud).toBe(resource)
    await expect(known.browser()(new URL('http://127.0.0.1'))).rejects.toThrow('no page')
  })

  test('a negative lifetime makes a token that has expired', async () => {
    const issuer = await devIssuer({ address: false, audience: resource })
    const verifying = issuer.verifier().verify(await issuer.token({ expiresIn: -60 }), request)
    await expect(verifying).rejects.toMatchObject({ isExpired: true })
  })

  test.each(tokenFaults)('a token with the fault "%s" is refused', async fault => {
    const issuer = await devIssuer({ address: false, audience: resource })
    const verifier = issuer.verifier()
    await expect(verifier.verify(await issuer.token({ fault }), request)).rejects.toThrow(
      InvalidToken,
    )
    await verifier.verify(await issuer.token(), request)
  })
})

describe('the authorization endpoint', () => {
  test('shows a page that no other site can frame, with every user', async () => {
    const users = [{ sub: 'ada', roles: ['admin'] }, { sub: '<b>"bob"' }]
    const issuer = await started({ users })
    const shown = await fetch((await pageOf(issuer)).page)
    expect(shown.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(shown.headers.get('access-control-allow-origin')).toBeNull()
    const html = await shown.text()
    expect(html).toContain('ada (admin)')
    expect(html).toContain('value="&lt;b&gt;&quot;bob&quot;"')
    expect(html).not.toContain('<b>"bob"')
  })

  test('returns code, state and iss, and the page works once', async () => {
    const issuer = await started()
    const { page } = await pageOf(issuer)
    const html = await (await fetch(page)).text()
    const [, id = ''] = /name="request" value="([^"]+)"/.exec(html) ?? []
    const choose = () =>
      fetch(`${issuer.issuer}/authorize`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ request: id, user: 'ada' }),
      })
    const back = new URL((await choose()).headers.get('location') ?? '')
    expect(Object.fromEntries(back.searchParams)).toEqual({
      code: expect.any(String),
      state: 'the state',
      iss: issuer.issuer,
    })
    expect((await choose()).status).toBe(400)
  })

  test.each([
    ['response_type', 'token', 'unsupported_response_type'],
    ['code_challenge', undefined, 'invalid_request'],
    ['code_challenge_method', 'plain', 'invalid_request'],
    ['resource', undefined, 'invalid_target'],
    ['resource', 'tools', 'invalid_target'],
    ['resource', 'https://tools.example.com/#x', 'invalid_target'],
  ])('with %s=%s redirects with the error %s', async (name, value, error) => {
    const issuer = await started()
    const back = await issuer.browser()((await pageOf(issuer, { [name]: value })).page)
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error, iss: issuer.issuer })
  })

  test.each([
    ['client_id', 'nobody'],
    ['redirect_uri', 'https://evil.example.com/callback'],
    ['redirect_uri', 'http://127.0.0.1:9/other'],
    ['redirect_uri', 'http://localhost:9/callback'],
  ])('with %s=%s never redirects', async (name, value) => {
    const issuer = await started()
    const { page } = await pageOf(issuer, { [name]: value })
    const shown = await fetch(page, { redirect: 'manual' })
    expect([shown.status, shown.headers.get('location')]).toEqual([400, null])
  })

  test('the port of this machine is free to choose', async () => {
    const issuer = await started()
    const redirect_uri = 'http://127.0.0.1:12345/callback'
    const back = await issuer.browser()((await pageOf(issuer, { redirect_uri })).page)
    expect(back.host).toBe('127.0.0.1:12345')
  })

  test('a user grants only scopes that it has, and only users that exist can log in', async () => {
    const issuer = await started({ users: [{ sub: 'bob', scopes: ['notes:read'] }] })
    const { page } = await pageOf(issuer)
    await expect(issuer.browser('eve')(page)).rejects.toThrow('There is no such user')
    const auth = oauth({ redirect, scopes: ['notes:write'], open: issuer.browser('bob') })
    const { url } = await guarded(issuer)
    await using client = await connect(url, { auth })
    expect((await client.call('who', {})).text).toBe('bob notes:read')
  })
})

describe('the token endpoint', () => {
  test('a code works once, and its second use ends the tokens of the first', async () => {
    const issuer = await started()
    const { redeem, clientId } = await coded(issuer)
    const first = await bodyOf(await redeem())
    expect(claimsOf(first.access_token)).toMatchObject({ aud: resource, client_id: clientId })
    const second = await redeem()
    expect([second.status, (await bodyOf(second)).error]).toEqual([400, 'invalid_grant'])
    const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
    const refreshed = await post(`${issuer.issuer}/token`, { ...form, client_id: clientId })
    expect((await bodyOf(refreshed)).error).toBe('invalid_grant')
  })

  test.each([
    ['another verifier', { code_verifier: randomText() }, 'invalid_grant'],
    ['another redirect', { redirect_uri: 'http://127.0.0.1:8/callback' }, 'invalid_grant'],
    ['another resource', { resource: 'https://other.example.com' }, 'invalid_target'],
    ['another client', { client_id: 'nobody' }, 'invalid_client'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['a secret that it has not', { client_secret: 'x' }, 'invalid_client'],
  ])('a code with %s is refused', async (_, changed, error) => {
    const { redeem } = await coded(await started())
    expect((await bodyOf(await redeem(changed))).error).toBe(error)
  })

  test('a code expires', async () => {
    let time = Date.now()
    const { redeem } = await coded(await started({ now: () => time }))
    time += limits.devIssuerCodeMs.default
    expect((await bodyOf(await redeem())).error).toBe('invalid_grant')
  })

  test('a refresh token is replaced, and the use of an old one ends all of them', async () => {
    const issuer = await started()
    const { redeem, clientId } = await coded(issuer)
    const refresh = async (refresh_token: string, more = {}) => {
      const form = { grant_type: 'refresh_token', refresh_token, client_id: clientId, ...more }
      return bodyOf(await post(`${issuer.issuer}/token`, form))
    }
    const one = await bodyOf(await redeem())
    const two = await refresh(one.refresh_token)
    expect(two.refresh_token).not.toBe(one.refresh_token)
    expect((await refresh(two.refresh_token, { scope: 'more' })).error).toBe('invalid_scope')
    const three = await refresh(two.refresh_token)
    expect(three.access_token).toBeDefined()
    expect((await refresh(one.refresh_token)).error).toBe('invalid_grant')
    expect((await refresh(three.refresh_token)).error).toBe('invalid_grant')
  })

  test('of two requests with one refresh token at the same time, one succeeds', async () => {
    const issuer = await started()
    const { redeem, clientId } = await coded(issuer)
    const { refresh_token } = await bodyOf(await redeem())
    const form = { grant_type: 'refresh_token', refresh_token, client_id: clientId }
    const both = await Promise.all([1, 2].map(() => post(`${issuer.issuer}/token`, form)))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  test('limits bodies, methods, hosts and repeated parameters', async () => {
    const { issuer } = await started()
    const token = `${issuer}/token`
    const huge = { grant_type: 'x'.repeat(limits.devIssuerBodyBytes.default) }
    expect((await post(token, huge)).status).toBe(413)
    expect((await fetch(token)).status).toBe(405)
    expect((await fetch(`${issuer}/nothing`)).status).toBe(404)
    expect((await fetch(token, { method: 'POST', body: '{}' })).status).toBe(400)
    const twice = new URLSearchParams('grant_type=refresh_token&grant_type=password')
    expect((await fetch(token, { method: 'POST', body: twice })).status).toBe(400)
    expect(
      (await fetch(token, { method: 'OPTIONS' })).headers.get('access-control-allow-origin'),
    ).toBe('*')
    const { status } = await foreignHost(new URL(token))
    expect(status).toBe(403)
  })
})

test('registration refuses addresses and methods that it cannot use', async () => {
  const issuer = await started()
  const javascript = ['javascript:alert(1)']
  expect((await register(issuer, { redirect_uris: javascript })).error).toBe('invalid_redirect_uri')
  expect((await register(issuer, { redirect_uris: [] })).error).toBe('invalid_redirect_uri')
  const method = { token_endpoint_auth_method: 'tls_client_auth' }
  expect((await register(issuer, method)).error).toBe('invalid_client_metadata')
  const key = { token_endpoint_auth_method: 'private_key_jwt' }
  expect((await register(issuer, key)).error).toBe('invalid_client_metadata')
  const secret = await register(issuer, { token_endpoint_auth_method: 'client_secret_post' })
  expect(secret).toMatchObject({ status: 201, client_secret_expires_at: 0 })
})

test('the oldest of too many clients is forgotten', async () => {
  const { Clients } = await import('./clients.ts')
  const clients = new Clients({ now: Date.now, network: {}, clients: [{ clientId: 'first' }] })
  const metadata = { redirect_uris: [redirect], token_endpoint_auth_method: 'none' }
  expect((await clients.find('first')).clientId).toBe('first')
  for (let at = 0; at < limits.devIssuerEntries.default; at++) clients.register(metadata)
  await expect(clients.find('first')).rejects.toThrow('not registered')
})

test('a client is described by the document at its id', async () => {
  const clientId = 'https://app.example.com/client.json'
  const document = { client_id: clientId, client_name: 'App', redirect_uris: [redirect] }
  const served: Record<string, object> = {
    [clientId]: { ...document, token_endpoint_auth_method: 'none' },
    'https://app.example.com/other.json': document,
  }
  const issuer = await started({
    network: { fetch: async url => Response.json(served[url.href] ?? {}) },
  })
  const html = await (await fetch((await pageOf(issuer, { client_id: clientId })).page)).text()
  expect(html).toContain('<b>App</b>')
  for (const wrong of ['https://app.example.com/other.json', 'https://app.example.com/none.json']) {
    const { page } = await pageOf(issuer, { client_id: wrong })
    expect((await fetch(page)).status).toBe(400)
  }
  const { url } = await guarded(issuer)
  const auth = oauth({ redirect, clientMetadataUrl: clientId, open: issuer.browser() })
  await using client = await connect(url, { auth })
  expect((await client.call('who', {})).text).toBe('ada notes:read')
})

/** Sends a request with another `Host` than the address. */
async function foreignHost(url: URL): Promise<{ status: number | undefined }> {
  const { request: send } = await import('node:http')
  return new Promise((resolve, reject) => {
    const sent = send(url, { headers: { host: 'evil.example.com' } }, response => {
      response.resume()
      resolve({ status: response.statusCode })
    })
    sent.on('error', reject).end()
  })
}

/** A server that accepts the tokens of an issuer. */
async function guarded(issuer: DevIssuer, more: object = {}) {
  const server = new Server({ name: 'notes', version: '1' })
  server.tool('who', {}, (_, { caller: { principal } }) =>
    [principal?.subject, ...(principal?.scopes ?? [])].join(' '),
  )
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
    auth: { verify: issuer.verifier(), scopes: ['notes:read'], ...more },
  })
  cleanUps.push(() => server.close())
  cleanUps.push(() => listener.close())
  return { url: listener.address }
}

describe('programs', () => {
  test('authenticate with a secret', async () => {
    const issuer = await started({ clients: [{ clientId: 'ci', clientSecret: 'the secret: ü' }] })
    const { url } = await guarded(issuer)
    const auth = clientCredentials({
      clientId: 'ci',
      clientSecret: 'the secret: ü',
      issuer: issuer.issuer,
    })
    await using client = await connect(url, { auth })
    expect((await client.call('who', {})).text).toBe('ci notes:read')
    const wrong = clientCredentials({ clientId: 'ci', clientSecret: 'x', issuer: issuer.issuer })
    await expect(connect(url, { auth: wrong })).rejects.toMatchObject({
      cause: { code: 'token', error: 'invalid_client' },
    })
  })

  test('authenticate with a private key, and an assertion works once', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const clients = [{ clientId: 'ci', publicKey: await exportJWK(publicKey) }]
    const issuer = await started({ clients })
    const { url } = await guarded(issuer)
    const auth = clientCredentials({ clientId: 'ci', privateKey, issuer: issuer.issuer })
    await using client = await connect(url, { auth })
    expect((await client.call('who', {})).text).toBe('ci notes:read')
    const { SignJWT } = await import('jose')
    const assertion = await new SignJWT({ jti: 'one' })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer('ci')
      .setSubject('ci')
      .setAudience(issuer.issuer)
      .setExpirationTime('1m')
      .sign(privateKey)
    const form = {
      grant_type: 'client_credentials',
      resource,
      client_assertion: assertion,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    }
    expect((await post(`${issuer.issuer}/token`, form)).status).toBe(200)
    expect((await post(`${issuer.issuer}/token`, form)).status).toBe(401)
    const { resource: _, ...withoutResource } = form
    expect((await post(`${issuer.issuer}/token`, withoutResource)).status).toBe(401)
  })

  test('exchange the token of a caller for one that is meant for another server', async () => {
    const clients = [{ clientId: 'router', clientSecret: 'secret' }]
    const issuer = await started({ clients, users: [{ sub: 'ada', roles: ['admin'] }] })
    const { url } = await guarded(issuer)
    const token = await issuer.token({
      scopes: ['notes:read'],
      audience: 'https://router.example.com',
    })
    const exchanging = (subject: string) =>
      exchange({
        issuer: issuer.issuer,
        clientId: 'router',
        clientSecret: 'secret',
        subjectToken: () => ({ token: subject }),
      }).for({ id: 'ada' }, new URL(url))
    await using client = await connect(url, { auth: exchanging(token) })
    expect((await client.call('who', {})).text).toBe('ada notes:read')
    const forged = await issuer.token({ audience: url, fault: 'other key' })
    await expect(connect(url, { auth: exchanging(forged) })).rejects.toMatchObject({
      cause: { error: 'invalid_grant' },
    })
  })

  test('a public client gets neither of them', async () => {
    const issuer = await started()
    const { client_id } = await register(issuer)
    for (const grant_type of [
      'client_credentials',
      'urn:ietf:params:oauth:grant-type:token-exchange',
    ]) {
      const response = await post(`${issuer.issuer}/token`, { grant_type, client_id, resource })
      expect((await bodyOf(response)).error).toBe('unauthorized_client')
    }
    const asked = await post(`${issuer.issuer}/introspect`, { token: 'x', client_id })
    expect(asked.status).toBe(401)
  })
})

test('introspection and revocation', async () => {
  const clients = [{ clientId: 'server', clientSecret: 'secret' }]
  const issuer = await started({ clients })
  const { redeem, clientId } = await coded(issuer)
  const { access_token, refresh_token } = await bodyOf(await redeem())
  const verify = introspection({
    issuer: issuer.issuer,
    endpoint: `${issuer.issuer}/introspect`,
    clientId: 'server',
    clientSecret: 'secret',
  })
  const { principal } = await verify.verify(access_token, request)
  expect(principal).toMatchObject({ subject: 'ada', scopes: ['notes:read'], client: clientId })
  verify.close?.()
  const isActive = async () => {
    const headers = { authorization: `Basic ${btoa('server:secret')}` }
    const response = await post(`${issuer.issuer}/introspect`, { token: access_token }, headers)
    return (await bodyOf(response)).active
  }
  const foreign = { token: refresh_token, client_id: (await register(issuer)).client_id }
  expect((await post(`${issuer.issuer}/revoke`, foreign)).status).toBe(200)
  expect(await isActive()).toBe(true)
  const own = { token: refresh_token, client_id: clientId }
  expect((await post(`${issuer.issuer}/revoke`, own)).status).toBe(200)
  expect(await isActive()).toBe(false)
})

describe.each([false, true])('DPoP with a nonce: %s', dpopNonce => {
  test('binds tokens to the key of the client', async () => {
    const issuer = await started({ dpopNonce })
    const { url } = await guarded(issuer, { dpop: 'require', dpopNonce })
    const auth = oauth({ redirect, dpop: 'always', open: issuer.browser() })
    await using client = await connect(url, { auth })
    for (let at = 0; at < 3; at++)
      expect((await client.call('who', {})).text).toBe('ada notes:read')
  })

  test('a request with an invalid proof is refused', async () => {
    const issuer = await started({ dpopNonce })
    const { redeem, clientId } = await coded(issuer)
    const invalid = await redeem({ client_id: clientId })
    const { refresh_token } = await bodyOf(invalid)
    const form = { grant_type: 'refresh_token', refresh_token, client_id: clientId }
    const response = await post(`${issuer.issuer}/token`, form, { dpop: 'no.proof.here' })
    expect((await bodyOf(response)).error).toBe('invalid_dpop_proof')
  })
})

describe('assertions of an identity provider', () => {
  const client = { clientId: 'app', clientSecret: 'hush-hush-hush' }
  const basic = { authorization: `Basic ${btoa(`${client.clientId}:${client.clientSecret}`)}` }
  const typed = (name: string) => `urn:ietf:params:oauth:token-type:${name}`

  async function enterprise() {
    const idp = await started({ clients: [client] })
    const as = await started({ clients: [client], identityProvider: idp })
    const exchanged = (form: Record<string, string>) =>
      post(
        `${idp.issuer}/token`,
        { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', resource, ...form },
        basic,
      )
    const idToken = async () => {
      const form = {
        requested_token_type: typed('id_token'),
        subject_token: await idp.token({ audience: resource }),
        subject_token_type: typed('access_token'),
      }
      return (await bodyOf(await exchanged(form))).access_token
    }
    const assertion = async (more: Record<string, string> = {}) => {
      const form = {
        requested_token_type: typed('id-jag'),
        subject_token: await idToken(),
        subject_token_type: typed('id_token'),
        audience: as.issuer,
        scope: 'a',
      }
      return bodyOf(await exchanged({ ...form, ...more }))
    }
    const redeemed = async (text: string, more: Record<string, string> = {}) => {
      const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
      return bodyOf(
        await post(`${as.issuer}/token`, { grant_type, assertion: text, ...more }, basic),
      )
    }
    return { idp, as, assertion, redeemed }
  }

  test('are accepted from a trusted one, for the same client, user, scopes and resource', async () => {
    const { as, assertion, redeemed } = await enterprise()
    const { access_token } = await redeemed((await assertion()).access_token)
    expect(claimsOf(access_token)).toMatchObject({
      iss: as.issuer,
      sub: 'ada',
      aud: resource,
      scope: 'a',
      client_id: 'app',
    })
  })

  test('are refused otherwise', async () => {
    const { idp, as, assertion, redeemed } = await enterprise()
    const good = (await assertion()).access_token
    const ofOther = (await assertion({ audience: 'https://other.example.com' })).access_token
    const other = 'https://other.example.com/mcp'
    expect((await redeemed(ofOther)).error).toBe('invalid_grant')
    expect((await redeemed(good, { resource: other })).error).toBe('invalid_target')
    expect((await redeemed(await idp.token({ audience: as.issuer }))).error).toBe('invalid_grant')
    const access = await idp.token({ audience: resource })
    expect((await assertion({ subject_token: access })).error).toBe('invalid_grant')
    expect((await assertion({ subject_token_type: typed('jwt') })).error).toBe('invalid_request')
    const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    const form = { grant_type, assertion: good }
    const refused = await post(`${idp.issuer}/token`, form, basic)
    expect((await bodyOf(refused)).error).toBe('unsupported_grant_type')
  })
})
