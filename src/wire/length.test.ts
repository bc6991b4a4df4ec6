import { describe, expect, test } from 'vitest'
import { frames, halves, latin1, singles } from '../../test/fuzz/reading.ts'
import { length } from './length.ts'

const cases: readonly [what: string, input: string, expected: readonly string[]][] = [
  ['nothing gives nothing', '', []],
  ['the prefix counts the bytes behind it', '\0\0\0\x02ab', ['frame ab']],
  ['frames follow each other at once', '\0\0\0\x02ab\0\0\0\x01c', ['frame ab', 'frame c']],
  ['a length of 0 is ignored', '\0\0\0\0\0\0\0\x01a\0\0\0\0', ['frame a']],
  ['line ends mean nothing', '\0\0\0\x03\n\r\n', ['frame \n\r\n']],
  ['a frame of exactly the limit fits', '\0\0\0\x0812345678', ['frame 12345678']],
  ['one byte over the limit is skipped', '\0\0\0\x09123456789\0\0\0\x01a', ['oversize', 'frame a']],
  [
    'the high bytes of the prefix count',
    `\0\0\x01\0${'x'.repeat(256)}\0\0\0\x01a`,
    ['oversize', 'frame a'],
  ],
  ['the largest length is reported at once', '\xff\xff\xff\xff', ['oversize', 'unfinished']],
  ['the top bit makes no negative length', '\x80\0\0\0abcd', ['oversize', 'unfinished']],
  ['half a prefix is unfinished', '\0\0', ['unfinished']],
  ['a prefix alone is unfinished', '\0\0\0\x02', ['unfinished']],
  ['half a frame is unfinished', '\0\0\0\x02a', ['unfinished']],
]

describe('reading length-prefixed frames', () => {
  test.each(cases)('%s', (_, input, expected) => {
    const bytes = latin1(input)
    expect(frames(length, [bytes], 8)).toEqual(expected)
    expect(frames(length, singles(bytes), 8)).toEqual(expected)
    for (const pieces of halves(bytes)) expect(frames(length, pieces, 8)).toEqual(expected)
  })

  test('a frame inside one chunk is delivered out of the chunk', () => {
    const chunk = latin1('\0\0\0\x02ab')
    const seen: unknown[] = []
    const reader = length.reader(
      {
        frame: (bytes, start, end) => seen.push([bytes === chunk, start, end]),
        oversize: () => seen.push('oversize'),
        broken: why => seen.push(why),
      },
      100,
    )
    reader.push(chunk)
    expect(seen).toEqual([[true, 4, 6]])
  })
})

test.each([
  ['ASCII', 'ab', '\0\0\0\x02ab'],
  ['two bytes a character', 'é', '\0\0\0\x02\xc3\xa9'],
  ['more than 255 bytes', 'x'.repeat(258), `\0\0\x01\x02${'x'.repeat(258)}`],
])('the written prefix counts bytes, not characters: %s', (_, text, frame) => {
  expect(Buffer.from(length.write(text)).toString('latin1')).toBe(frame)
})
