import { describe, expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { decodeHeader, encodeHeader } from './encoding.ts'

describe('a text as a header', () => {
  const texts = [
    '',
    'plain',
    'two words',
    ' space before',
    'tab\tinside',
    'é',
    '=?base64?x?=',
    '\n',
    '日本',
  ]

  test.each(texts)('comes back as it was: %j', text => {
    const header = encodeHeader(text)
    expect(header).toMatch(/^[\x20-\x7e]*$/)
    expect(decodeHeader(header)).toBe(text)
  })

  test.each(['=?base64?YQ?=', '=?base64?Y===?=', '=?base64?Y*==?=', '=?base64?/w==?='])(
    'is refused where it is not well encoded: %s',
    header => {
      expect(decodeHeader(header)).toBeUndefined()
    },
  )

  test('stands for itself when the marker is not spelt as it must be', () => {
    proves('N11d')
    expect(decodeHeader('=?BASE64?YQ==?=')).toBe('=?BASE64?YQ==?=')
  })
})
