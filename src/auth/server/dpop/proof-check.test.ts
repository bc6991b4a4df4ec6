import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { DpopNonces } from './nonce.ts'
import { checkProof } from './proof-check.ts'
import { MemoryReplayCache } from './replay-cache.ts'

const url = 'https://tools.example.com/mcp'
const token = 'an.access.token'
const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
const jwk = await exportJWK(publicKey)
const jkt = await calculateJwkThumbprint(jwk)
const ath = Buffer.from(
  await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)),
).toString('base64url')
const seconds = () => Math.floor(Date.now() / 1000)

let count = 0
function proof(claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}) {
  const all = { htm: 'POST', htu: url, iat: seconds(), ath, jti: `j${++count}`, ...claims }
  return new SignJWT(all)
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header })
    .sign(privateKey)
}

const target = { method: 'POST', url, token, jkt }
const rules = () => ({ now: Date.now, replays: new MemoryReplayCache(), nonces: undefined })

describe('a proof', () => {
  test('is valid once', async () => {
    const shared = rules()
    const made = await proof()
    expect(await checkProof(made, target, shared)).toBe('valid')
    expect(await checkProof(made, target, shared)).toBe('invalid')
  })

  test.each([
    ['a query in htu', { htu: `${url}?a=1` }],
    ['a slash at the end of htu', { htu: `${url}/` }],
    ['a little in the past', { iat: seconds() - 50 }],
  ])('with %s is valid', async (_, claims) => {
    expect(await checkProof(await proof(claims), target, rules())).toBe('valid')
  })

  test.each([
    ['for another method', { htm: 'GET' }, {}],
    ['for another path', { htu: 'https://tools.example.com/other' }, {}],
    ['for another host', { htu: 'https://evil.example.com/mcp' }, {}],
    ['for another scheme', { htu: 'http://tools.example.com/mcp' }, {}],
    ['for another token', { ath: 'x' }, {}],
    ['for no token', { ath: undefined }, {}],
    ['that is old', { iat: seconds() - 120 }, {}],
    ['of the future', { iat: seconds() + 60 }, {}],
    ['without a time', { iat: undefined }, {}],
    ['without an id', { jti: undefined }, {}],
    ['with an empty id', { jti: '' }, {}],
    ['with a long id', { jti: 'x'.repeat(129) }, {}],
    ['of another type', {}, { typ: 'JWT' }],
    ['with a private key', {}, { jwk: { ...jwk, d: 'x' } }],
    ['with a shared secret', {}, { jwk: { kty: 'oct', k: 'x' } }],
    ['without a key', {}, { jwk: undefined }],
    ['with an unknown header that is critical', {}, { crit: ['b64'], b64: true }],
  ])('%s is invalid', async (_, claims, header) => {
    expect(await checkProof(await proof(claims, header), target, rules())).toBe('invalid')
  })

  test('of another key is invalid', async () => {
    const other = await generateKeyPair('ES256', { extractable: true })
    const stolen = await new SignJWT({ htm: 'POST', htu: url, iat: seconds(), ath, jti: 'x' })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(other.publicKey) })
      .sign(other.privateKey)
    expect(await checkProof(stolen, target, rules())).toBe('invalid')
    const forged = await new SignJWT({ htm: 'POST', htu: url, iat: seconds(), ath, jti: 'y' })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .sign(other.privateKey)
    expect(await checkProof(forged, target, rules())).toBe('invalid')
    expect(await checkProof('no.proof', target, rules())).toBe('invalid')
  })

  test('needs a nonce, where the server has one', async () => {
    let time = 1_700_000_000_000
    const now = () => time
    const nonces = new DpopNonces(now)
    const nonceRules = { now, replays: new MemoryReplayCache(), nonces }
    const at = (nonce?: string) => proof({ iat: time / 1000, nonce })
    expect(await checkProof(await at(), target, nonceRules)).toBe('nonce')
    const nonce = await nonces.current()
    expect(await checkProof(await at(nonce), target, nonceRules)).toBe('valid')
    time += 300_000
    expect(await checkProof(await at(nonce), target, nonceRules)).toBe('valid')
    time += 300_000
    expect(await checkProof(await at(nonce), target, nonceRules)).toBe('nonce')
    expect(await checkProof(await at('made up'), target, nonceRules)).toBe('nonce')
  })

  test('is refused for now when no more can be remembered', async () => {
    const full = { ...rules(), replays: new MemoryReplayCache(1) }
    expect(await checkProof(await proof(), target, full)).toBe('valid')
    expect(await checkProof(await proof(), target, full)).toBe('full')
  })
})

test('proofs are forgotten when they have expired', () => {
  const cache = new MemoryReplayCache(2)
  expect([cache.add('a', 10, 0), cache.add('b', 20, 0), cache.add('c', 30, 5)]).toEqual([
    true,
    true,
    undefined,
  ])
  expect([cache.add('c', 30, 10), cache.add('b', 30, 10)]).toEqual([true, false])
})
