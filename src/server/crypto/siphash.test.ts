import { describe, expect, test } from 'vitest'
import { growth, proportional } from '../../../test/fuzz/cost.ts'
import { sipHash } from './siphash.ts'

const key = Uint8Array.from({ length: 16 }, (_, i) => i)

describe('SipHash', () => {
  // From the authors' own list: the key is 00 01 … 0f, the message 00 01 … of the given length.
  test.each([
    [0, 'a3817f04ba25a8e66df67214c7550293'],
    [1, 'da87c1d86b99af44347659119b22fc45'],
    [2, '8177228da4a45dc7fca38bdef60affe4'],
    [3, '9c70b60c5267a94e5f33b6b02985ed51'],
    [4, 'f88164c12d9c8faf7d0f6e7c7bcd5579'],
    [5, '1368875980776f8854527a07690e9627'],
    [6, '14eeca338b208613485ea0308fd7a15e'],
    [7, 'a1f1ebbed8dbc153c0b84aa61ff08239'],
    [15, '5493e99933b0a8117e08ec0f97cfc3d9'],
  ])('of %i bytes is as published', (length, hash) => {
    const message = Uint8Array.from({ length }, (_, i) => i)
    expect(Buffer.from(sipHash(key, message)).toString('hex')).toBe(hash)
  })

  test('depends on every bit of the key and of the message', () => {
    const message = Uint8Array.from({ length: 21 }, (_, i) => i)
    const hashes = new Set([Buffer.from(sipHash(key, message)).toString('hex')])
    for (let bit = 0; bit < (16 + 21) * 8; bit++) {
      const bytes = Uint8Array.from([...key, ...message])
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const hash = sipHash(bytes.subarray(0, 16), bytes.subarray(16))
      hashes.add(Buffer.from(hash).toString('hex'))
    }
    expect(hashes.size).toBe(1 + (16 + 21) * 8)
  })

  test('time is in proportion to the message', () => {
    const ratio = growth(10_000, size => sipHash(key, new Uint8Array(size)))
    expect(ratio).toBeLessThan(proportional)
  })
})
