import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { growth, proportional } from '../../../test/fuzz/cost.ts'
import { fromBase64Url, toBase64Url } from './base64url.ts'

describe('base64url', () => {
  test('encodes like Buffer does, and decodes its own output', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), bytes => {
        const text = toBase64Url(bytes)
        expect(text).toBe(Buffer.from(bytes).toString('base64url'))
        expect(fromBase64Url(text)).toEqual(new Uint8Array(bytes))
      }),
    )
  })

  test('decodes nothing that it would not have written', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\w\-+/= ]{0,12}$/), text => {
        const bytes = fromBase64Url(text)
        if (bytes !== undefined) expect(toBase64Url(bytes)).toBe(text)
      }),
    )
  })

  test.each([
    ['padding', 'QQ=='],
    ['the plus sign', '++++'],
    ['the slash', '////'],
    ['a space', 'QU JD'],
    ['a line break', 'QUJD\n'],
    ['a letter of another script', 'QUJÖ'],
    ['a character beyond 16 bits', 'QUJ🚀'],
    ['one character too many', 'QUJDR'],
    ['bits left over', 'QR'],
    ['bits left over, in three characters', 'QUJ'],
  ])('refuses %s', (_, text) => {
    expect(fromBase64Url(text)).toBeUndefined()
  })

  test('time is in proportion to the length', () => {
    const ratio = growth(3_000, size => fromBase64Url(toBase64Url(new Uint8Array(size))))
    expect(ratio).toBeLessThan(proportional)
  })
})
