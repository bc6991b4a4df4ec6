import { describe, expect, test } from 'vitest'
import type { Network, NetworkRequest } from '../../network/network.ts'
import { InvalidToken, VerifierUnavailable } from '../verifier.ts'
import { introspection } from './introspection.ts'

const issuer = 'https://as.example.com'
const resource = 'https://tools.example.com/mcp'
const request = { method: 'POST', path: '/mcp', audiences: [resource], certificate: undefined }

function world(options: Partial<Parameters<typeof introspection>[0]> = {}) {
  let time = 1_000_000_000_000
  let answer: unknown = {
    active: true,
    sub: 'ada',
    aud: resource,
    exp: time / 1000 + 300,
    scope: 'a b',
  }
  const sent: NetworkRequest[] = []
  const network: Network = async (_, asked) => {
    sent.push(asked)
    if (answer instanceof Error) throw answer
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
    return { status: 200, headers: new Headers(), text }
  }
  const verifier = introspection({
    issuer,
    endpoint: `${issuer}/introspect`,
    clientId: 'rs:1',
    clientSecret: 's%cret',
    network,
    now: () => time,
    ...options,
  })
  return {
    sent,
    says: (value: unknown) => {
      answer = value
    },
    advance: (ms: number) => {
      time += ms
    },
    verify: (token = 'opaque') => verifier.verify(token, request),
  }
}

test('the endpoint is asked with the credentials of this server', async () => {
  const { verify, sent } = world()
  const { principal, until } = await verify()
  expect(principal).toMatchObject({
    id: `${issuer} ada`,
    scopes: ['a', 'b'],
    verifier: 'introspection',
  })
  expect(until).toBe(1_000_000_030_000)
  expect(sent).toMatchObject([
    {
      method: 'POST',
      body: 'token=opaque&token_type_hint=access_token',
      headers: { authorization: `Basic ${btoa('rs%3A1:s%25cret')}` },
    },
  ])
})

test('requests with the same token share one question', async () => {
  const { verify, sent } = world()
  await Promise.all([verify(), verify(), verify('other')])
  expect(sent).toHaveLength(2)
})

describe('a token is invalid', () => {
  const good = { active: true, sub: 'ada', aud: resource, exp: 1_000_000_300 }
  test.each([
    ['that is not active', { active: false }],
    ['of another issuer', { ...good, iss: 'https://evil.example.com' }],
    ['for another audience', { ...good, aud: 'https://other.example.com' }],
    ['without an audience', { ...good, aud: undefined }],
    ['without an expiry', { ...good, exp: undefined }],
    ['that has expired', { ...good, exp: 999_999_999 }],
    ['of nobody', { ...good, sub: undefined }],
  ])('%s', async (_, answer) => {
    const { verify, says } = world()
    says(answer)
    await expect(verify()).rejects.toThrow(InvalidToken)
  })
})

describe('the endpoint decides nothing', () => {
  test.each([
    ['if it fails', new Error('connect ECONNREFUSED')],
    ['if it answers no JSON', '<html>'],
    ['if it does not say whether', { sub: 'ada' }],
    ['if it says so in another way', { active: 'true', sub: 'ada' }],
    ['if a member appears twice', '{"active":false,"active":true,"sub":"ada"}'],
  ])('%s', async (_, answer) => {
    const { verify, says } = world()
    says(answer)
    await expect(verify()).rejects.toThrow(VerifierUnavailable)
  })

  test('and is not asked for a while after ten failures', async () => {
    const { verify, says, sent, advance } = world()
    says(new Error('down'))
    for (let n = 0; n < 20; n++) await expect(verify(`t${n}`)).rejects.toThrow(VerifierUnavailable)
    expect(sent).toHaveLength(10)
    says({ active: false })
    advance(5000)
    await expect(verify()).rejects.toThrow(InvalidToken)
  })
})

test('a negative answer is used for a moment', async () => {
  const { verify, says, sent, advance } = world()
  says({ active: false })
  await expect(verify()).rejects.toThrow(InvalidToken)
  await expect(verify()).rejects.toThrow(InvalidToken)
  expect(sent).toHaveLength(1)
  advance(5000)
  await expect(verify()).rejects.toThrow(InvalidToken)
  expect(sent).toHaveLength(2)
})

test('what an endpoint does not tell can be left out, if that is said', async () => {
  const { verify, says } = world({ audienceOptional: true, ttlMs: 10_000 })
  says({ active: true, client_id: 'app' })
  expect(await verify()).toMatchObject({ principal: { subject: 'app' }, until: 1_000_000_010_000 })
})

test('a token that is bound to a key says so', async () => {
  const { verify, says } = world()
  says({ active: true, sub: 'ada', aud: [resource], exp: 1_000_000_300, cnf: { jkt: 'thumb' } })
  expect((await verify()).confirmation).toEqual({ jkt: 'thumb' })
})

test('options are checked', () => {
  expect(() => introspection({ issuer } as never)).toThrow('introspection() needs "endpoint"')
  expect(() => introspection({ isuer: issuer } as never)).toThrow('did you mean "issuer"?')
})
