import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { growth, held, proportional } from '../../test/fuzz/cost.ts'
import { frames, latin1 } from '../../test/fuzz/reading.ts'
import type { FrameReader, Framing, FramingName } from './frame.ts'
import { framing } from './framing.ts'

const MiB = 1024 * 1024

/** For each framing: how to announce a frame that never ends, and pieces that make up hostile input. */
const wires: readonly [name: FramingName, endless: string, pieces: readonly string[]][] = [
  ['lines', '', ['\n', '\r', '\r\n', 'a', '\xc3\xa9', '\xff', 'x'.repeat(17)]],
  ['length', '\x7f\xff\xff\xff', ['\0\0\0\0', '\0\0\0\x02', '\0\0\0\x11', '\0\0', '\x01', 'ab']],
  [
    'headers',
    'Content-Length: 999999999999\r\n\r\n',
    ['Content-Length: 2\r\n', 'content-length:17\n', 'X: y\r\n', '\r\n', '\n', '\r', 'ab', ':'],
  ],
]

describe.each(wires)('the framing %s', (name, endless, pieces) => {
  const wire = framing(name)

  test('is found by its name', () => {
    expect(wire.name).toBe(name)
  })

  test('gives the same frames however the bytes are split', () => {
    const input = fc.array(
      fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...pieces).map(latin1) },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 6 }) },
      ),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(input, fc.array(fc.nat(400)), (parts, cuts) => {
        const bytes = Buffer.concat(parts)
        expect(frames(wire, cutAt(bytes, cuts), 16)).toEqual(frames(wire, [bytes], 16))
      }),
    )
  })

  test('reads back every text it writes', () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', minLength: 1 }).filter(isOneLine))
    fc.assert(
      fc.property(texts, fc.array(fc.nat(400)), (written, cuts) => {
        const bytes = Buffer.concat(written.map(text => Buffer.from(wire.write(text))))
        const read = frames(wire, cutAt(bytes, cuts), MiB)
        expect(read).toEqual(written.map(text => `frame ${Buffer.from(text).toString('latin1')}`))
      }),
    )
  })

  test('takes time in proportion to the bytes of one frame in small chunks', () => {
    const chunk = new Uint8Array(512).fill(120)
    const ratio = growth(256, chunks => {
      const reader = quiet(wire, Number.MAX_SAFE_INTEGER)
      reader.push(latin1(endless))
      for (let left = chunks; left > 0; left--) reader.push(chunk)
    })
    expect(ratio).toBeLessThan(proportional)
  })

  test('takes time in proportion to the bytes of one frame in single bytes', () => {
    const chunk = Uint8Array.of(120)
    const ratio = growth(5_000, chunks => {
      const reader = quiet(wire, Number.MAX_SAFE_INTEGER)
      reader.push(latin1(endless))
      for (let left = chunks; left > 0; left--) reader.push(chunk)
    })
    expect(ratio).toBeLessThan(proportional)
  })

  test('takes time in proportion to the number of frames in one chunk', () => {
    const ratio = growth(1_000, count => {
      const frame = Buffer.from(wire.write('x'))
      quiet(wire, MiB).push(Buffer.concat(Array(count).fill(frame)))
    })
    expect(ratio).toBeLessThan(proportional)
  })

  test('holds no more than the limit of a frame that does not end', () => {
    const reader = quiet(wire, MiB)
    reader.push(latin1(endless))
    // Every chunk is new, so that keeping one would show.
    const most = held(4, () => {
      for (let count = 0; count < 256; count++) reader.push(new Uint8Array(64 * 1024).fill(120))
    })
    expect(most).toBeLessThan(4 * MiB)
  })

  test('holds little of a frame under the limit of which little has come', () => {
    const reader = quiet(wire, 2 ** 40)
    const most = held(2, step => reader.push(latin1(step === 0 ? endless : 'xxxx')))
    expect(most).toBeLessThan(MiB)
  })

  test('holds nothing of the large chunk behind a small rest', () => {
    const readers = Array.from({ length: 64 }, () => quiet(wire, 100 * MiB))
    const most = held(1, () => {
      for (const reader of readers) {
        const chunk = Buffer.alloc(MiB)
        const head = Buffer.concat([Buffer.from(wire.write('x'.repeat(MiB / 2))), latin1(endless)])
        reader.push(chunk.subarray(0, head.copy(chunk) + 10))
      }
    })
    expect(most).toBeLessThan(4 * MiB)
  })
})

test('an endless header block is given up and nothing of it kept', () => {
  const reader = quiet(framing('headers'), MiB)
  const most = held(4, () => {
    for (let count = 0; count < 256; count++) reader.push(new Uint8Array(64 * 1024).fill(120))
  })
  expect(most).toBeLessThan(MiB)
})

test.each(['line', '', 'constructor', '__proto__'])('there is no framing called %j', name => {
  // The check: the name comes from outside the compiler's sight, as a setting does.
  expect(() => framing(name as FramingName)).toThrow(TypeError)
})

function quiet(wire: Framing, maxBytes: number): FrameReader {
  return wire.reader({ frame: () => {}, oversize: () => {}, broken: () => {} }, maxBytes)
}

/** A text that stands in one line, and that a line of white space is not taken for. */
function isOneLine(text: string): boolean {
  return !/[\r\n]/.test(text) && /[^ \t]/.test(text)
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ordered = [0, ...cuts.map(cut => cut % (bytes.length + 1)), bytes.length]
  ordered.sort((a, b) => a - b)
  return ordered.map((start, index) => bytes.subarray(start, ordered[index + 1] ?? bytes.length))
}
