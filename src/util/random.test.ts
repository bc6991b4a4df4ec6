import { expect, test } from 'vitest'
import { randomHex, randomToken } from './random.ts'

test('names are long, never the same, and every byte is as likely as any other', () => {
  const count = 20_000
  const seen = new Set<string>()
  const times = new Uint32Array(256)
  for (let i = 0; i < count; i++) {
    const name = randomHex(24)
    seen.add(name)
    for (const byte of Buffer.from(name, 'hex')) times[byte] = (times[byte] ?? 0) + 1
  }
  expect(seen.size).toBe(count)
  expect(randomHex(24)).toMatch(/^[0-9a-f]{48}$/)
  const expected = (count * 24) / 256
  const chi = times.reduce((sum, time) => sum + (time - expected) ** 2 / expected, 0)
  // 255 degrees of freedom: beyond 400 once in hundreds of millions of runs.
  expect(chi).toBeLessThan(400)
})

test('randomToken never repeats, and a token does not reveal the next', () => {
  const tokens = Array.from({ length: 2000 }, () => randomToken())
  expect(new Set(tokens).size).toBe(tokens.length)
  const starts = new Set(tokens.map(token => token.slice(0, 4)))
  expect(starts.size).toBeGreaterThan(1000)
})
