import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import { tokenIssuer } from '../../../../test/support/issuer.ts'
import type { Network } from '../../network/network.ts'
import { InvalidToken, VerifierUnavailable } from '../verifier.ts'
import { jwt } from './jwt.ts'

const resource = 'https://tools.example.com/mcp'
const request = { method: 'POST', path: '/mcp', audiences: [resource], certificate: undefined }
const minute = 60_000

/** An issuer with a clock that stands still and a network that can fail. */
async function world(options: { readonly cacheControl?: string } = {}) {
  const issuer = 'https://as.example.com'
  let time = Date.now()
  let keys = [await tokenIssuer(issuer, 'k1')]
  let isAway = false
  const fetched: string[] = []
  const network: Network = async url => {
    fetched.push(new URL(url).pathname)
    if (isAway) throw new Error('connect ECONNREFUSED')
    const headers = new Headers(
      options.cacheControl ? { 'cache-control': options.cacheControl } : {},
    )
    if (url.endsWith('/oauth-authorization-server')) return { status: 404, headers, text: '' }
    const document = url.endsWith('/jwks')
      ? { keys: keys.map(({ jwk }) => jwk) }
      : { issuer, jwks_uri: `${issuer}/jwks` }
    return { status: 200, headers, text: JSON.stringify(document) }
  }
  const withdrawn: string[] = []
  const verifier = jwt({ issuer, network, now: () => time })
  verifier.onKeyWithdrawn = keyId => withdrawn.push(JSON.parse(keyId).kid)
  const token = (at = 0) => {
    const key = keys[at] ?? keys[0]
    const seconds = Math.floor(time / 1000)
    return (
      key?.token({ claims: { iat: seconds, exp: seconds + 7200 } }) ??
      Promise.reject(new Error('no key'))
    )
  }
  return {
    fetched,
    withdrawn,
    advance: (ms: number) => {
      time += ms
    },
    away: (value: boolean) => {
      isAway = value
    },
    /** Replaces the key by another one with the same name. */
    replace: async () => {
      keys = [await tokenIssuer(issuer, 'k1')]
    },
    rotate: async (...names: readonly string[]) => {
      keys = await Promise.all(
        names.map(
          async name => keys.find(({ jwk }) => jwk.kid === name) ?? tokenIssuer(issuer, name),
        ),
      )
    },
    token,
    verify: async (given?: string) => verifier.verify(given ?? (await token()), request),
  }
}

describe('the keys of an issuer', () => {
  test('are found by its metadata, and fetched once for many', async () => {
    const { verify, fetched } = await world()
    await Promise.all(Array.from({ length: 10 }, () => verify()))
    await verify()
    expect(fetched).toEqual([
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/jwks',
    ])
  })

  test('are fetched again in the background, before they are old', async () => {
    const { verify, fetched, advance } = await world()
    await verify()
    advance(4 * minute)
    await verify()
    expect(fetched).toHaveLength(3)
    advance(2 * minute)
    await verify()
    await expect.poll(() => fetched).toHaveLength(4)
  })

  test('are used as long as the issuer says', async () => {
    const { verify, fetched, advance } = await world({ cacheControl: 'public, max-age=7200' })
    await verify()
    advance(50 * minute)
    await verify()
    expect(fetched).toHaveLength(3)
  })

  test('are fetched for an unknown key, but not for each', async () => {
    const { verify, fetched, advance, rotate, token } = await world()
    await verify()
    advance(minute)
    await rotate('k1', 'k2')
    await verify(await token(1))
    expect(fetched).toHaveLength(4)
    const unknown = await tokenIssuer('https://as.example.com', 'nobody')
    for (let n = 0; n < 20; n++)
      await expect(verify(await unknown.token())).rejects.toThrow(InvalidToken)
    expect(fetched).toHaveLength(4)
    advance(31_000)
    await expect(verify(await unknown.token())).rejects.toThrow('its key is unknown')
    expect(fetched).toHaveLength(5)
  })

  test('report which of them were withdrawn', async () => {
    const { verify, advance, rotate, withdrawn, token } = await world()
    await verify()
    const old = await token()
    await rotate('k2')
    advance(minute)
    await verify(await token())
    expect(withdrawn).toEqual(['k1'])
    await expect(verify(old)).rejects.toThrow(InvalidToken)
  })

  test('go on while the issuer is away, and then no more', async () => {
    const { verify, fetched, advance, away } = await world()
    await verify()
    away(true)
    const before = fetched.length
    for (let minutes = 0; minutes < 60; minutes++) {
      advance(minute)
      await verify()
    }
    expect(fetched.length - before).toBeLessThanOrEqual(60)
    advance(25 * 60 * minute)
    await expect(verify()).rejects.toThrow(VerifierUnavailable)
    away(false)
    advance(minute)
    await verify().catch(() => {})
    await expect
      .poll(() =>
        verify().then(
          () => 'ok',
          () => 'no',
        ),
      )
      .toBe('ok')
  })

  test('that were never there make the server unavailable, not the token invalid', async () => {
    const { verify, fetched, advance, away } = await world()
    away(true)
    for (let n = 0; n < 50; n++) await expect(verify()).rejects.toThrow(VerifierUnavailable)
    expect(fetched.length).toBeLessThanOrEqual(2)
    away(false)
    advance(2000)
    expect((await verify()).principal.subject).toBe('ada')
  })
})

test.each([
  ['a private key', { kty: 'EC', crv: 'P-256', x: 'a', y: 'b', d: 'c' }],
  ['a shared secret', { kty: 'oct', k: 'secret' }],
  ['a key for encryption', { kty: 'RSA', n: 'x'.repeat(342), e: 'AQAB', use: 'enc' }],
  ['a short RSA key', { kty: 'RSA', n: 'x'.repeat(170), e: 'AQAB' }],
  ['no key', 'key'],
])('%s is not used', async (_, key) => {
  const { jwk: _jwk, ...as } = await tokenIssuer()
  const verifier = jwt({ issuer: as.issuer, jwks: { keys: [key as object] } })
  await expect(verifier.verify(await as.token(), request)).rejects.toThrow('its key is unknown')
})

test.each([
  [
    'another issuer',
    { issuer: 'https://evil.example.com', jwks_uri: 'https://as.example.com/jwks' },
  ],
  ['an insecure URL', { issuer: 'https://as.example.com', jwks_uri: 'http://as.example.com/jwks' }],
  ['no URL', { issuer: 'https://as.example.com' }],
])('metadata with %s are not used', async (_, document) => {
  const network: Network = async () => ({
    status: 200,
    headers: new Headers(),
    text: JSON.stringify(document),
  })
  const as = await tokenIssuer()
  const verifier = jwt({ issuer: as.issuer, network })
  await expect(verifier.verify(await as.token(), request)).rejects.toThrow(VerifierUnavailable)
})

test('a key that is replaced under its name is withdrawn', async () => {
  const { verify, advance, replace, withdrawn, token } = await world()
  const old = await token()
  await verify(old)
  await replace()
  advance(6 * minute)
  await verify(old).catch(() => {})
  await expect.poll(() => withdrawn).toEqual(['k1'])
  await verify(await token())
  await expect(verify(old)).rejects.toThrow(InvalidToken)
})

test('a token that names an algorithm that its key does not fit is invalid, and no failure of the server', async () => {
  const { issuer, jwk } = await tokenIssuer()
  const { publicKey } = await generateKeyPair('ES384')
  const other = { ...(await exportJWK(publicKey)), kid: 'k2' }
  const broken = { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'k3' }
  const verifier = jwt({ issuer, jwks: { keys: [jwk, other, broken] } })
  for (const kid of ['k2', 'k3', undefined]) {
    const forged = await (await tokenIssuer(issuer)).token({ header: { kid } })
    await expect(verifier.verify(forged, request)).rejects.toThrow(InvalidToken)
  }
})
