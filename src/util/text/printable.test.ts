import { describe, expect, it, test } from 'vitest'
import { escapeUnprintable, printable, printableJson } from './printable.ts'

const hostile: readonly (readonly [name: string, text: string])[] = [
  ['NUL', '\0'],
  ['BEL', '\x07'],
  ['backspace', '\b'],
  ['carriage return', '\r'],
  ['ESC', '\x1b'],
  ['DEL', '\x7f'],
  ['CSI of C1', '\x9b'],
  ['OSC of C1', '\x9d'],
  ['next line', '\x85'],
  ['Arabic letter mark', '\u061c'],
  ['left-to-right mark', '\u200e'],
  ['right-to-left mark', '\u200f'],
  ['line separator', '\u2028'],
  ['paragraph separator', '\u2029'],
  ['right-to-left override', '\u202e'],
  ['isolate', '\u2066'],
  ['pop isolate', '\u2069'],
  ['tag', '\u{e0041}'],
  ['cancel tag', '\u{e007f}'],
]

describe.each(hostile)('%s', (_name, character) => {
  it('is replaced in text', () => {
    expect(printable(`a${character}b`)).toBe('a\ufffdb')
  })

  it('is escaped in JSON, which means the same', () => {
    const value = { text: `a${character}b` }
    const json = printableJson(JSON.stringify(value, null, 2))
    expect(json).toMatch(/^[\n\x20-\x7e]*$/)
    expect(JSON.parse(json)).toEqual(value)
  })

  it('is escaped in lines', () => {
    expect(escapeUnprintable(`a${character}b`)).toMatch(/^a(?:\\u[\da-f]{4})+b$/)
  })
})

test.each(['plain', 'äöü 漢字', 'a\nb\tc', '👩‍💻 🏳️‍🌈', 'נסיון'])('%j stays as it is', text => {
  expect(printable(text)).toBe(text)
})

test('the line ends of Windows become line feeds', () => {
  expect(printable('a\r\nb')).toBe('a\nb')
})
