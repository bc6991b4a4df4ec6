import fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }

const codePoint = fc
  .integer({ min: 0, max: 0x10ffff - surrogates.count })
  .map(at => String.fromCodePoint(at < surrogates.first ? at : at + surrogates.count))

/**
 * Generates texts of any Unicode characters: what `unit: 'binary'` means, which takes more than a second to
 * prepare in each process.
 */
export function anyText(constraints: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: codePoint })
}
