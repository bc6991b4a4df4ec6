import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { linkReports } from '../../test/fuzz/link-reports.ts'
import { halves, latin1, singles } from '../../test/fuzz/reading.ts'
import {
  LinkFrameBatch,
  LinkFrameReader,
  type LinkTextKind,
  linkCredit,
  linkFrameKinds,
  linkText,
} from './link-frames.ts'

const { hello, open, head, end, reset, request, reply, ping, pong } = linkFrameKinds

/** A header as text, one character for each byte. */
const header = (size: number, kind: number, stream: number): string => {
  const bytes = Buffer.alloc(9)
  bytes.writeUInt32BE(size)
  bytes.writeUInt8(kind, 4)
  bytes.writeUInt32BE(stream, 5)
  return bytes.toString('latin1')
}

const cases: readonly [what: string, input: string, expected: readonly string[]][] = [
  ['nothing gives nothing', '', []],
  ['a text frame', `${header(2, open, 7)}ab`, ['2 7 ab']],
  ['frames follow each other', `${header(1, head, 1)}a${header(0, end, 1)}`, ['3 1 a', '5 1 ']],
  ['an empty text frame', header(0, reset, 3), ['6 3 ']],
  ['a number', `${header(4, 7, 5)}\0\x04\0\0`, ['7 5 \0\x04\0\0']],
  ['ping and pong', header(0, ping, 0) + header(0, pong, 0), ['10 0 ', '11 0 ']],
  ['the top bit of a stream id counts', `${header(1, reply, 0xffffffff)}x`, ['9 4294967295 x']],
  ['data', `${header(3, 4, 2)}abc`, ['data 2 abc']],
  ['empty data gives nothing', header(0, 4, 2) + header(0, end, 2), ['5 2 ']],
  ['a payload of exactly the limit', `${header(8, request, 1)}12345678`, ['8 1 12345678']],
  [
    'a payload over the limit',
    header(9, request, 1),
    ['broken a frame has 9 bytes, the limit is 8'],
  ],
  ['data over the limit', header(9, 4, 1), ['broken a frame has 9 bytes, the limit is 8']],
  [
    'the top bit of a length counts',
    header(0x80000000, hello, 0),
    ['broken a frame has 2147483648 bytes, the limit is 8'],
  ],
  ['the kind 0', header(0, 0, 1), ['broken a frame has the unknown kind 0']],
  ['the kind after the last', header(0, 12, 1), ['broken a frame has the unknown kind 12']],
  [
    'nothing follows a broken frame',
    header(0, 200, 1) + header(0, end, 1),
    ['broken a frame has the unknown kind 200'],
  ],
  ['another protocol', 'GET / HTTP/1.1\r\n', ['broken a frame has the unknown kind 47']],
  [
    'a credit of the wrong size',
    header(3, 7, 1),
    ['broken a frame of kind 7 has 3 bytes instead of 4'],
  ],
  [
    'a ping with a payload',
    header(1, ping, 0),
    ['broken a frame of kind 10 has 1 bytes instead of 0'],
  ],
  ['half a header', header(0, end, 1).slice(0, 5), []],
  ['half a payload', `${header(4, head, 1)}ab`, []],
]

describe('reading frames of a link', () => {
  test.each(cases)('%s', (_, input, expected) => {
    const bytes = latin1(input)
    expect(linkReports([bytes], 8)).toEqual(expected)
    expect(linkReports(singles(bytes), 8)).toEqual(expected)
    for (const pieces of halves(bytes)) expect(linkReports(pieces, 8)).toEqual(expected)
  })

  test('data is delivered as it arrives, out of the chunk', () => {
    const seen: unknown[] = []
    const reader = readerOf({
      data: (stream, bytes) => seen.push([stream, bytes.buffer, bytes.length]),
    })
    const first = Uint8Array.from(latin1(`${header(6, 4, 9)}ab`))
    reader.push(first)
    expect(seen).toEqual([[9, first.buffer, 2]])
  })

  test('a reader that is stopped during a chunk ignores the rest of it', () => {
    const seen: number[] = []
    const reader = readerOf({
      frame: (_, stream) => {
        seen.push(stream)
        reader.stop()
      },
    })
    reader.push(latin1(header(0, end, 1) + header(0, end, 2)))
    reader.push(latin1(header(0, end, 3)))
    expect(seen).toEqual([1])
  })

  test('a new limit counts from the next frame on', () => {
    const reports: string[] = []
    const reader = readerOf({
      frame: (_, __, payload) => reports.push(linkText(payload)),
      broken: reason => reports.push(reason),
    })
    reader.push(latin1(`${header(4, hello, 0)}abcd`))
    reader.maxBytes = 2
    reader.push(latin1(header(3, hello, 0)))
    expect(reports).toEqual(['abcd', 'a frame has 3 bytes, the limit is 2'])
  })
})

describe('writing frames of a link', () => {
  test('a text over the limit is not added, and what was added before stays', () => {
    const batch = new LinkFrameBatch()
    expect(batch.text(head, 1, 'é', 2)).toBe(true)
    expect(batch.text(head, 1, 'éa', 2)).toBe(false)
    expect(batch.text(head, 1, 'abc', 2)).toBe(false)
    expect(linkReports([batch.take()], 8)).toEqual(['3 1 \xc3\xa9'])
  })

  test('a batch that was taken never changes', () => {
    const batch = new LinkFrameBatch()
    batch.signal(ping, 0)
    const taken = batch.take()
    const before = Buffer.from(taken)
    batch.text(head, 1, 'x'.repeat(5000), 10_000)
    expect(Buffer.from(taken)).toEqual(before)
    expect(batch.size).toBe(5009)
  })

  test('everything that is written is read again, however it is split', () => {
    fc.assert(
      fc.property(
        fc.array(written, { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        (all, step) => {
          const batch = new LinkFrameBatch()
          for (const one of all) add(batch, one)
          const bytes = batch.take()
          const pieces: Uint8Array[] = []
          for (let at = 0; at < bytes.length; at += step) pieces.push(bytes.subarray(at, at + step))
          expect(linkReports(pieces, 1000)).toEqual(joined(all))
        },
      ),
    )
  })

  test.each([0, 1, 0x7fffffff, 0xffffffff])('the credit %i', credit => {
    const batch = new LinkFrameBatch()
    batch.credit(1, credit)
    const seen: number[] = []
    readerOf({ frame: (_, __, payload) => seen.push(linkCredit(payload)) }).push(batch.take())
    expect(seen).toEqual([credit])
  })

  test('a text keeps its byte order mark', () => {
    expect(linkText(Buffer.from('\ufeffa'))).toBe('\ufeffa')
  })
})

type Written =
  | { readonly kind: LinkTextKind; readonly stream: number; readonly text: string }
  | { readonly kind: 4; readonly stream: number; readonly bytes: Uint8Array }
  | { readonly kind: 5 | 10 | 11; readonly stream: number }

const stream = fc.integer({ min: 0, max: 0xffffffff })
const written: fc.Arbitrary<Written> = fc.oneof(
  fc.record({
    kind: fc.constantFrom<LinkTextKind[]>(hello, open, head, reset, request, reply),
    stream,
    text: fc.string({ unit: 'binary', maxLength: 50 }),
  }),
  fc.record({ kind: fc.constant(4 as const), stream, bytes: fc.uint8Array({ maxLength: 80 }) }),
  fc.record({ kind: fc.constantFrom(end, ping, pong), stream }),
)

function add(batch: LinkFrameBatch, one: Written): void {
  if ('text' in one) batch.text(one.kind, one.stream, one.text, 1000)
  else if ('bytes' in one) batch.data(one.stream, one.bytes, 0, one.bytes.length)
  else batch.signal(one.kind, one.stream)
}

/** The expected reports. Data that follows data of the same stream is one report. */
function joined(all: readonly Written[]): string[] {
  const reports: string[] = []
  for (const one of all) {
    if (!('bytes' in one)) {
      const payload = 'text' in one ? Buffer.from(one.text).toString('latin1') : ''
      reports.push(`${one.kind} ${one.stream} ${payload}`)
    } else if (one.bytes.length > 0) {
      const before = `data ${one.stream} `
      const text = Buffer.from(one.bytes).toString('latin1')
      if (reports.at(-1)?.startsWith(before)) reports.push(`${reports.pop()}${text}`)
      else reports.push(before + text)
    }
  }
  return reports
}

function readerOf(
  sink: Partial<ConstructorParameters<typeof LinkFrameReader>[0]>,
): LinkFrameReader {
  return new LinkFrameReader({ data: () => {}, frame: () => {}, broken: () => {}, ...sink }, 1000)
}
