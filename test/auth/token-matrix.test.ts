import { createHmac } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import * as oauth from 'oauth4webapi'
import { describe, expect, test } from 'vitest'
import { InvalidToken } from '../../src/auth/server/verifier.ts'
import { jwt } from '../../src/auth/server/verifiers/jwt.ts'
import { tokenIssuer } from '../support/issuer.ts'

const resource = 'https://tools.example.com/mcp'
const as = await tokenIssuer()
const stranger = await tokenIssuer('https://as.example.com', 'k2')
const now = Math.floor(Date.now() / 1000)
const check = jwt({ issuer: as.issuer, jwks: as.jwks, rolesFrom: 'realm_access.roles' })
const request = { method: 'POST', path: '/mcp', audiences: [resource], certificate: undefined }

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const good = { iss: as.issuer, sub: 'ada', aud: resource, exp: now + 300 }
const unsigned = (header: object, claims: object = good): string =>
  `${part(header)}.${part(claims)}.`

/** Signs any header with the key of the issuer, also one that a library would refuse to sign. */
async function signed(head: object): Promise<string> {
  const text = `${part(head)}.${part(good)}`
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const bytes = await crypto.subtle.sign(algorithm, as.privateKey, Buffer.from(text))
  return `${text}.${Buffer.from(bytes).toString('base64url')}`
}

function hmacWithPublicKey(): string {
  const head = `${part({ alg: 'HS256', kid: 'k1', typ: 'at+jwt' })}.${part(good)}`
  return `${head}.${createHmac('sha256', JSON.stringify(as.jwk)).update(head).digest('base64url')}`
}

/** What is odd about a token, and whether it passes. */
type Row = readonly [what: string, isGood: boolean, token: Promise<string> | string]

const claims = (changed: Record<string, unknown>): Promise<string> => as.token({ claims: changed })
const header = (changed: Record<string, unknown>): Promise<string> => as.token({ header: changed })

const rows: readonly Row[] = [
  ['nothing', true, as.token()],
  // Audience.
  ['aud is a list with ours', true, claims({ aud: ['https://other.example.com', resource] })],
  ['aud is missing', false, claims({ aud: undefined })],
  ['aud is another', false, claims({ aud: 'https://other.example.com/mcp' })],
  ['aud is a prefix', false, claims({ aud: 'https://tools.example.com' })],
  ['aud is longer', false, claims({ aud: `${resource}/more` })],
  ['aud has a slash at the end', false, claims({ aud: `${resource}/` })],
  ['aud has capitals', false, claims({ aud: 'https://TOOLS.example.com/mcp' })],
  ['aud is an empty list', false, claims({ aud: [] })],
  ['aud is a list with a number', false, claims({ aud: [resource, 5] })],
  ['aud is an object', false, claims({ aud: { 0: resource } })],
  ['only azp names us', false, claims({ aud: undefined, azp: resource })],
  // Issuer.
  ['iss is missing', false, claims({ iss: undefined })],
  ['iss is another', false, claims({ iss: 'https://evil.example.com' })],
  ['iss has a slash at the end', false, claims({ iss: `${as.issuer}/` })],
  ['iss has capitals', false, claims({ iss: 'https://AS.example.com' })],
  ['iss is a list', false, claims({ iss: [as.issuer] })],
  // Time.
  ['exp is missing', false, claims({ exp: undefined })],
  ['exp is past', false, claims({ exp: now - 3600 })],
  ['exp is just past, within the skew', true, claims({ exp: now - 5 })],
  ['exp is a text', false, claims({ exp: String(now + 300) })],
  [
    'exp is not finite',
    false,
    unsigned({ alg: 'ES256', kid: 'k1' }).replace(
      part(good),
      Buffer.from(JSON.stringify(good).replace(/"exp":\d+/, '"exp":1e400')).toString('base64url'),
    ),
  ],
  ['exp is zero', false, claims({ exp: 0 })],
  ['nbf is ahead', false, claims({ nbf: now + 3600 })],
  ['nbf is a little ahead, within the skew', true, claims({ nbf: now + 5 })],
  ['nbf is a text', false, claims({ nbf: 'soon' })],
  ['iat is ahead', false, claims({ iat: now + 3600 })],
  ['iat is missing', true, claims({ iat: undefined })],
  // Type.
  ['typ is missing', true, header({ typ: undefined })],
  ['typ is JWT', true, header({ typ: 'JWT' })],
  ['typ is jwt', true, header({ typ: 'jwt' })],
  ['typ is application/at+jwt', true, header({ typ: 'application/at+jwt' })],
  ['typ is dpop+jwt', false, header({ typ: 'dpop+jwt' })],
  ['typ is logout+jwt', false, header({ typ: 'logout+jwt' })],
  ['typ is oauth-id-jag+jwt', false, header({ typ: 'oauth-id-jag+jwt' })],
  ['typ is a number', false, header({ typ: 5 })],
  // ID tokens.
  ['nonce, as an ID token has it', false, claims({ nonce: 'n' })],
  ['at_hash, as an ID token has it', false, claims({ at_hash: 'h' })],
  // Signature.
  ['alg is none', false, unsigned({ alg: 'none', typ: 'at+jwt' })],
  ['alg is None', false, unsigned({ alg: 'None', typ: 'at+jwt' })],
  ['alg is HS256 with the public key', false, hmacWithPublicKey()],
  ['the key is of a stranger', false, stranger.token({ header: { kid: 'k1' } })],
  ['the key is unknown', false, stranger.token()],
  ['the key is in the header', false, stranger.token({ header: { jwk: stranger.jwk, kid: 'k1' } })],
  [
    'the key is at a URL of the header',
    false,
    stranger.token({ header: { jku: 'https://evil.example.com', kid: 'k1' } }),
  ],
  [
    'the certificate is at a URL of the header',
    false,
    stranger.token({ header: { x5u: 'https://evil.example.com', kid: 'k1' } }),
  ],
  ['kid is missing', true, header({ kid: undefined })],
  [
    'crit names an unknown header',
    false,
    unsigned({ alg: 'ES256', kid: 'k1', crit: ['exp2'], exp2: 1 }),
  ],
  [
    'crit names an unknown header, and the signature covers it',
    false,
    signed({ alg: 'ES256', kid: 'k1', crit: ['exp2'], exp2: 1 }),
  ],
  ['the signature is missing', false, as.token().then(token => token.replace(/[^.]*$/, ''))],
  ['the signature is changed', false, as.token().then(token => token.replace(/.{4}$/, 'AAAA'))],
  [
    'the payload is changed',
    false,
    as.token().then(token => token.replace(/\..*\./, `.${part({ ...good, sub: 'eve' })}.`)),
  ],
  // Form.
  ['two parts', false, 'a.b'],
  ['four parts', false, as.token().then(token => `${token}.x`)],
  ['no base64url', false, 'a+b.c/d.e'],
  ['no JSON', false, `${Buffer.from('x').toString('base64url')}.${part(good)}.x`],
  ['a list as payload', false, `${part({ alg: 'ES256' })}.${part([good])}.x`],
  [
    'a member twice',
    false,
    `${part({ alg: 'ES256', kid: 'k1' })}.${Buffer.from(`{"iss":"x",${JSON.stringify(good).slice(1)}`).toString('base64url')}.x`,
  ],
  // Who.
  ['sub is missing, client_id is there', true, claims({ sub: undefined, client_id: 'app' })],
  ['sub is missing, azp is there', true, claims({ sub: undefined, azp: 'app' })],
  ['nobody is named', false, claims({ sub: undefined })],
  ['sub is empty', false, claims({ sub: '' })],
  // Keys that a token is bound to.
  ['cnf with a thumbprint', true, claims({ cnf: { jkt: 'x' } })],
  ['cnf of an unknown kind', false, claims({ cnf: { other: 'x' } })],
]

async function passes(token: string): Promise<boolean> {
  try {
    await check.verify(token, request)
    return true
  } catch (error) {
    if (error instanceof InvalidToken) return false
    throw error
  }
}

describe('a token', () => {
  test.each(rows)('%s: %s', async (_, isGood, token) => {
    expect(await passes(await token)).toBe(isGood)
  })
})

/** Where an independent implementation decides otherwise, and why. */
const differences: ReadonlyMap<string, string> = new Map([
  ['aud is a list with a number', 'it looks for our value only'],
  ['exp is just past, within the skew', 'it has no skew by default'],
  ['nbf is a little ahead, within the skew', 'it has no skew by default'],
  ['iat is ahead', 'it does not compare it'],
  ['iat is missing', 'RFC 9068 requires it'],
  ['typ is missing', 'RFC 9068 requires at+jwt'],
  ['typ is JWT', 'RFC 9068 requires at+jwt'],
  ['typ is jwt', 'RFC 9068 requires at+jwt'],
  ['nonce, as an ID token has it', 'it goes by the type alone'],
  ['at_hash, as an ID token has it', 'it goes by the type alone'],
  ['sub is missing, client_id is there', 'RFC 9068 requires sub'],
  ['sub is missing, azp is there', 'RFC 9068 requires sub and client_id'],
  ['a member twice', 'it takes the last'],
  ['cnf with a thumbprint', 'it then requires the proof at once'],
  ['cnf of an unknown kind', 'it ignores it'],
])

test('an independent implementation decides alike, but for listed differences', async () => {
  const server = { issuer: as.issuer, jwks_uri: 'https://as.example.com/jwks' }
  const others: string[] = []
  for (const [what, isGood, made] of rows) {
    const withClient =
      what.includes('client') || what.includes('azp') ? {} : { client_id: 'app', jti: 'j' }
    // RFC 9068 requires client_id and jti, so they are added where the token is ours.
    const token = await made
    const parts = token.split('.')
    const payload = parts.length === 3 ? safe(parts[1]) : undefined
    const isOurs = payload !== undefined && !what.includes('changed') && isGood
    const judged = isOurs
      ? await as.token({ claims: { ...payload, ...withClient }, header: safe(parts[0]) ?? {} })
      : token
    const options = { [oauth.customFetch]: async () => Response.json(as.jwks) }
    const judgement = oauth
      .validateJwtAccessToken(
        server,
        new Request(resource, { headers: { authorization: `Bearer ${judged}` } }),
        resource,
        options,
      )
      .then(
        () => true,
        () => false,
      )
    if ((await judgement) !== isGood) others.push(what)
  }
  expect(others.filter(what => !differences.has(what))).toEqual([])
})

function safe(text: string | undefined): Record<string, unknown> | undefined {
  try {
    return JSON.parse(Buffer.from(text ?? '', 'base64url').toString())
  } catch {
    return undefined
  }
}

describe('the principal of a token', () => {
  const principal = async (changed: Record<string, unknown>, options = {}) => {
    const own = jwt({ issuer: as.issuer, jwks: as.jwks, ...options })
    return (await own.verify(await claims(changed), request)).principal
  }

  test('has the issuer and the subject in its id', async () => {
    expect(await principal({})).toMatchObject({
      id: 'https://as.example.com ada',
      issuer: as.issuer,
      subject: 'ada',
      verifier: 'jwt',
      expiresAt: expect.any(Number),
    })
  })

  test.each([
    [{ scope: 'a b' }, ['a', 'b']],
    [{ scp: 'a b' }, ['a', 'b']],
    [{ scp: ['a', 'b'] }, ['a', 'b']],
    [{ scope: ' a  b a ' }, ['a', 'b']],
    [{ scope: 5 }, []],
    [{}, []],
  ])('has the scopes of %j', async (changed, scopes) => {
    expect((await principal(changed)).scopes).toEqual(scopes)
  })

  test.each([
    [{ realm_access: { roles: ['admin'] } }, 'realm_access.roles', ['admin']],
    [{ 'https://acme.example.com/roles': ['admin'] }, 'https://acme.example.com/roles', ['admin']],
    [{ 'cognito:groups': ['a', 'b'] }, 'cognito:groups', ['a', 'b']],
    [{ roles: 'a b' }, 'roles', ['a', 'b']],
    [{ roles: [5] }, 'roles', []],
    [{}, '__proto__.roles', []],
    [{ team: 'x' }, (all: Readonly<Record<string, unknown>>) => [`team:${all.team}`], ['team:x']],
  ])('has the roles of %j at %s', async (changed, rolesFrom, roles) => {
    expect((await principal(changed, { rolesFrom })).roles).toEqual(roles)
  })

  test('cannot be changed, and does not hold the token', async () => {
    const made = await principal({ tenant: { id: 'acme' } })
    expect(() => Object.assign(made, { id: 'eve' })).toThrow(TypeError)
    expect(() => Object.assign(made.claims?.tenant as object, { id: 'eve' })).toThrow(TypeError)
    expect(JSON.stringify(made)).not.toContain((await as.token()).slice(0, 30))
  })
})

describe('jwt()', () => {
  test('verifies tokens by a shared secret, and no others', async () => {
    const secret = new Uint8Array(32).fill(7)
    const shared = jwt({ issuer: as.issuer, secret })
    const head = `${part({ alg: 'HS256' })}.${part(good)}`
    const token = `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`
    expect((await shared.verify(token, request)).principal.subject).toBe('ada')
    await expect(shared.verify(await as.token(), request)).rejects.toThrow(InvalidToken)
  })

  test('accepts only the algorithms that it is told to, whatever keys are published', async () => {
    const { publicKey, privateKey } = await generateKeyPair('PS256')
    const jwk = { ...(await exportJWK(publicKey)), kid: 'rsa' }
    const signed = new SignJWT(good).setProtectedHeader({ alg: 'PS256', kid: 'rsa' })
    const token = await signed.sign(privateKey)
    const by = (algorithms?: readonly string[]) =>
      jwt({ issuer: as.issuer, jwks: { keys: [as.jwk, jwk] }, ...(algorithms && { algorithms }) })
    expect((await by().verify(token, request)).principal.subject).toBe('ada')
    const refused = by(['ES256']).verify(token, request)
    await expect(refused).rejects.toThrow('its signature algorithm is not accepted')
  })

  test('accepts tokens of RFC 9068 only, where it is told to', async () => {
    const strict = jwt({ issuer: as.issuer, jwks: as.jwks, typ: 'at+jwt' })
    expect((await strict.verify(await as.token(), request)).principal.subject).toBe('ada')
    await expect(strict.verify(await header({ typ: 'JWT' }), request)).rejects.toThrow(InvalidToken)
  })

  test('rejects old tokens, where it is told to', async () => {
    const young = jwt({ issuer: as.issuer, jwks: as.jwks, maxTokenAgeMs: 60_000 })
    await expect(young.verify(await claims({ iat: now - 3600 }), request)).rejects.toMatchObject({
      isExpired: true,
    })
    await expect(young.verify(await claims({ iat: undefined }), request)).rejects.toThrow(
      InvalidToken,
    )
    expect((await young.verify(await as.token(), request)).principal.subject).toBe('ada')
  })

  test.each([
    [{}, 'jwt() needs the URL of an issuer'],
    [{ issuer: 'as' }, 'jwt() needs the URL of an issuer'],
    [{ issuer: 'https://as', isuer: 'x' }, 'did you mean "issuer"?'],
    [{ issuer: 'https://as', algorithms: ['none'] }, 'none cannot be used with keys'],
    [{ issuer: 'https://as', algorithms: ['HS256'] }, 'HS256 cannot be used with keys'],
    [{ issuer: 'https://as', secret: new Uint8Array(31) }, 'at least 32 bytes'],
    [
      { issuer: 'https://as', secret: new Uint8Array(32), algorithms: ['RS256'] },
      'RS256 cannot be used with a secret',
    ],
    [{ issuer: 'https://as', clockSkewMs: 300_001 }, 'at most 300000'],
  ])('refuses the options %j', (options, message) => {
    expect(() => jwt(options as never)).toThrow(message)
  })
})
