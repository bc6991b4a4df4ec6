import { describe, expect, test } from 'vitest'
import { Server } from '../../src/server/server.ts'
import { createSealer } from '../../src/util/crypto/seal.ts'
import { randomHex } from '../../src/util/random.ts'
import { serveKnown } from './principals.ts'
import { calling, opening } from './requests.ts'
import { serve } from './served.ts'

/** Returns the chi-squared statistic of the byte counts: about 255 if uniform, and hardly ever above 400. */
function chiSquare(times: Uint32Array): number {
  const expected = times.reduce((sum, time) => sum + time, 0) / times.length
  return times.reduce((sum, time) => sum + (time - expected) ** 2 / expected, 0)
}

/** Returns how many of the numbers are duplicates. */
function repeated(numbers: BigUint64Array): number {
  const sorted = numbers.sort()
  return sorted.reduce((count, number, i) => count + (i > 0 && sorted[i - 1] === number ? 1 : 0), 0)
}

describe('SEC-36: ids that must not be guessable', () => {
  test('are unique among a quarter of a million, with uniformly distributed bytes', () => {
    const count = 250_000
    const times = new Uint32Array(256)
    // The first 64 bits of each distinguish any two of them, except once in 500 million runs.
    const heads = new BigUint64Array(count)
    const bytes = Buffer.alloc(24)
    for (let i = 0; i < count; i++) {
      bytes.write(randomHex(24), 'hex')
      heads[i] = bytes.readBigUInt64LE()
      for (let at = 0; at < 24; at++) {
        const byte = bytes[at] ?? 0
        times[byte] = (times[byte] ?? 0) + 1
      }
    }
    expect(repeated(heads)).toBe(0)
    expect(chiSquare(times)).toBeLessThan(400)
  })

  test('include those of sessions, in both designs: 192 bits each', async () => {
    const on = await serve()
    const ids = new Set<string>()
    for (let i = 0; i < 100; i++) {
      ids.add((await on.ask(opening())).headers.get('mcp-session-id') ?? '')
      const wire = await on.open({ method: 'GET', path: '/sse' })
      await wire.begin()
      ids.add(/sessionId=(\w+)/.exec((await wire.event()) ?? '')?.[1] ?? '')
      wire.cut()
    }
    expect(ids.size).toBe(200)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{48}$/)
  })

  test('include those of tasks, which grant access where no caller is authenticated: 192 bits each', async () => {
    const server = new Server({ name: 's', version: '1' })
    server.tool('quick', { task: 'required' }, () => '')
    const anonymous = (await serveKnown(server))()
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
    const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities }
    const ids = new Set<string>()
    for (let i = 0; i < 50; i++) {
      ids.add((await anonymous.ask(calling('quick', {}, { meta }))).json.result.taskId)
    }
    expect(ids.size).toBe(50)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{48}$/)
  })

  test('do not include the nonces of sealed tokens, which need only be unique: 96 bits each', async () => {
    const sealer = createSealer()
    const count = 5000
    const binding = { purpose: 'test', method: 'x' }
    const times = new Uint32Array(256)
    const heads = new BigUint64Array(count)
    for (let i = 0; i < count; i += 500) {
      const tokens = await Promise.all(
        Array.from({ length: 500 }, () => sealer.seal(0, binding, { ttlMs: 1000 })),
      )
      for (const [at, token] of tokens.entries()) {
        // The nonce follows the version and the id of the key.
        const nonce = Buffer.from(token, 'base64url').subarray(9, 21)
        heads[i + at] = nonce.readBigUInt64LE()
        for (const byte of nonce) times[byte] = (times[byte] ?? 0) + 1
      }
    }
    expect(repeated(heads)).toBe(0)
    expect(chiSquare(times)).toBeLessThan(400)
  })
})
