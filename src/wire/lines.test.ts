import { describe, expect, test } from 'vitest'
import { frames, halves, latin1, singles } from '../../test/fuzz/reading.ts'
import { lines } from './lines.ts'

const cases: readonly [what: string, input: string, expected: readonly string[]][] = [
  ['nothing gives nothing', '', []],
  ['a line feed ends a line', 'a\nbc\n', ['frame a', 'frame bc']],
  ['a carriage return before the line feed is dropped', 'a\r\nb\n', ['frame a', 'frame b']],
  ['only one carriage return is dropped', 'a\r\r\n', ['frame a\r']],
  ['blank lines are passed over', '\n\r\n\na\n\n\r\n', ['frame a']],
  ['lines of white space are blank', ' \t \n \r\r\na\n', ['frame a']],
  ['a carriage return alone does not split', 'a\rb\n', ['frame a\rb']],
  ['NEL, form feed, tab and NUL do not split', 'a\x85\f\t\0b\n', ['frame a\x85\f\t\0b']],
  ['bytes that are not UTF-8 go on unchanged', '\xff\xc0\x80\n', ['frame \xff\xc0\x80']],
  ['a line without its end is not delivered', 'a\nbc', ['frame a', 'unfinished']],
  ['a line of exactly the limit fits', '12345678\n', ['frame 12345678']],
  ['the carriage return does not count', '12345678\r\n', ['frame 12345678']],
  ['one byte over the limit is too many', '123456789\na\n', ['oversize', 'frame a']],
  ['a carriage return counts inside the line', '12345678\r9\na\n', ['oversize', 'frame a']],
  ['the second of two returns counts', '12345678\r\r\na\n', ['oversize', 'frame a']],
  ['an oversize line is reported once', `${'x'.repeat(50)}\na\n`, ['oversize', 'frame a']],
  [
    'two oversize lines are reported twice',
    `${'123456789\n'.repeat(2)}a\n`,
    ['oversize', 'oversize', 'frame a'],
  ],
  ['an oversize line without its end is reported', '123456789', ['oversize', 'unfinished']],
  ['so is one with a carriage return', '123456789\r', ['oversize', 'unfinished']],
]

describe('reading lines', () => {
  test.each(cases)('%s', (_, input, expected) => {
    const bytes = latin1(input)
    expect(frames(lines, [bytes], 8)).toEqual(expected)
    expect(frames(lines, singles(bytes), 8)).toEqual(expected)
    for (const pieces of halves(bytes)) expect(frames(lines, pieces, 8)).toEqual(expected)
  })

  test('U+2028 and U+2029 do not split, even with their bytes apart', () => {
    const bytes = Buffer.from('a\u2028b\u2029c\n')
    const expected = [`frame ${Buffer.from('a\u2028b\u2029c').toString('latin1')}`]
    for (const pieces of halves(bytes)) expect(frames(lines, pieces, 100)).toEqual(expected)
  })

  test('a line inside one chunk is delivered out of the chunk', () => {
    const chunk = latin1('a\nbc\r\nd')
    const seen: unknown[] = []
    const reader = lines.reader(
      {
        frame: (bytes, start, end) => seen.push([bytes === chunk, start, end]),
        oversize: () => seen.push('oversize'),
        broken: why => seen.push(why),
      },
      100,
    )
    reader.push(chunk)
    expect(seen).toEqual([
      [true, 0, 1],
      [true, 2, 4],
    ])
  })

  test('an oversize line is reported before its end arrives', () => {
    const expected: string[] = []
    const reader = lines.reader(
      {
        frame: () => expected.push('frame'),
        oversize: () => expected.push('oversize'),
        broken: () => {},
      },
      8,
    )
    reader.push(latin1('12345678'))
    expect(expected).toEqual([])
    reader.push(latin1('9'))
    expect(expected).toEqual(['oversize'])
  })
})

test('a written line is the text and a line feed', () => {
  expect(lines.write('{"é":1}')).toBe('{"é":1}\n')
})
