import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { growth, held, proportional } from '../../test/fuzz/cost.ts'
import { events, halves, latin1, singles } from '../../test/fuzz/reading.ts'
import {
  type OutgoingEvent,
  SseReader,
  type SseSink,
  writeComment,
  writeEvent,
  writeLine,
} from './sse.ts'

const MiB = 1024 * 1024
const noId = 'last id ""'

function event(data: string, id = '', type = 'message', damaged = false): string {
  return JSON.stringify({ data, event: type, id, damaged })
}

const cases: readonly [what: string, input: string, expected: readonly string[]][] = [
  ['nothing gives nothing', '', [noId]],
  ['a blank line ends an event', 'data: a\n\ndata: b\n\n', [event('a'), event('b'), noId]],
  ['carriage returns end lines', 'data: a\r\rdata: b\r\r', [event('a'), event('b'), noId]],
  ['CRLF is one line end', 'data: a\r\ndata: b\r\n\r\n', [event('a\nb'), noId]],
  ['line ends may be mixed', 'data: a\r\ndata: b\rdata: c\n\r', [event('a\nb\nc'), noId]],
  ['LF CR are two line ends', 'data: a\n\rdata: b\n\r', [event('a'), event('b'), noId]],
  ['data lines are joined', 'data: a\ndata:\ndata: b\n\n', [event('a\n\nb'), noId]],
  ['one space behind the colon is dropped', 'data:  a\n\n', [event(' a'), noId]],
  ['no space is needed', 'data:a\n\n', [event('a'), noId]],
  ['only the first colon splits', 'data:a: b\n\n', [event('a: b'), noId]],
  ['a field without a colon is empty', 'data\ndata\n\n', [event('\n'), noId]],
  ['one leading byte order mark is dropped', '\xef\xbb\xbfdata: a\n\n', [event('a'), noId]],
  ['a second mark is part of the name', '\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n', [noId]],
  ['a mark later on is no line start', 'data: a\n\n\xef\xbb\xbfdata: b\n\n', [event('a'), noId]],
  ['a mark in data stays', 'data:\xef\xbb\xbfa\n\n', [event('\ufeffa'), noId]],
  ['a mark alone is a blank line', '\xef\xbb\xbf\ndata: a\n\n', [event('a'), noId]],
  ['comments are passed over', ': hello\n:\ndata: a\n: data: b\n\n', [event('a'), noId]],
  ['unknown fields are passed over', 'dat: x\ndatas: x\nDATA: x\ndata: a\n\n', [event('a'), noId]],
  ['longer names are unknown', 'events: t\nretrys: 5\ndata: a\n\n', [event('a'), noId]],
  ['a mark in an id stays', 'id: \xef\xbb\xbf1\n\n', ['last id "\ufeff1"']],
  ['a name with a space is unknown', 'data : x\n data: x\ndata: a\n\n', [event('a'), noId]],
  ['a long line without a colon is unknown', `${'x'.repeat(40)}\ndata: a\n\n`, [event('a'), noId]],
  [
    'the type is for one event',
    'event: t\ndata: a\n\ndata: b\n\n',
    [event('a', '', 't'), event('b'), noId],
  ],
  ['the last of two types counts', 'event: t\nevent: u\ndata: a\n\n', [event('a', '', 'u'), noId]],
  ['an empty type is none', 'event: t\nevent\ndata: a\n\n', [event('a'), noId]],
  ['a type without data is forgotten', 'event: t\n\ndata: a\n\n', [event('a'), noId]],
  [
    'the id stays for later events',
    'id: 1\ndata: a\n\ndata: b\n\n',
    [event('a', '1'), event('b', '1'), 'last id "1"'],
  ],
  ['an empty id takes it back', 'id: 1\n\nid\ndata: b\n\n', [event('b'), noId]],
  ['an id with NUL is ignored', 'id: 1\n\nid: 2\0\ndata: a\n\n', [event('a', '1'), 'last id "1"']],
  ['an id without data counts, but gives no event', 'id: 1\n\n', ['last id "1"']],
  ['an empty data field is an event', 'id: 1\ndata:\n\n', [event('', '1'), 'last id "1"']],
  ['the id of an unfinished event does not count', 'id: 1\n\nid: 2\ndata: a\n', ['last id "1"']],
  ['an event without its blank line is dropped', 'data: a\n', [noId]],
  ['an event without its line end is dropped', 'data: a\n\ndata: b', [event('a'), noId]],
  ['retry is reported at once', 'retry: 10\n', ['retry 10', noId]],
  ['retry needs digits', 'retry: -1\nretry: 1.5\nretry: 1s\nretry\nretry:  1\n\n', [noId]],
  [
    'a huge retry is what a timer can hold',
    'retry: 99999999999999999999\n',
    [`retry ${2 ** 31 - 1}`, noId],
  ],
  ['characters of several bytes', 'data: \xe2\x82\xac\xf0\x9f\x98\x80\n\n', [event('€😀'), noId]],
  ['U+2028 does not split', 'data: a\xe2\x80\xa8b\n\n', [event('a\u2028b'), noId]],
  [
    'invalid UTF-8 is replaced and reported',
    'data: \xff\xc3\ndata: \xa9\n\n',
    [event('��\n�', '', 'message', true), noId],
  ],
  [
    'an event after a damaged one is whole',
    'data: \xc3\n\ndata: é\n\n'.replace('é', '\xc3\xa9'),
    [event('�', '', 'message', true), event('é'), noId],
  ],
]

describe('reading an event stream', () => {
  test.each(cases)('%s', (_, input, expected) => {
    const bytes = latin1(input)
    expect(events([bytes], 100)).toEqual(expected)
    expect(events(singles(bytes), 100)).toEqual(expected)
    for (const pieces of halves(bytes)) expect(events(pieces, 100)).toEqual(expected)
  })

  test.each([
    ['a line of exactly the limit fits', 'data:123\n\n', [event('123'), noId]],
    ['a line over it ends the stream', 'data:1234\n\ndata:1\n\n', ['oversize', noId]],
    ['so does a line without its end', 'data:1234', ['oversize', noId]],
    ['so does a comment', ':12345678', ['oversize', noId]],
    ['data lines count together', 'data:1\ndata:22\n\n', ['oversize', noId]],
    ['empty data lines count', 'data\n'.repeat(6), ['oversize', noId]],
    ['comments do not add up', ':1234567\n'.repeat(9), [noId]],
    ['events before it are delivered', 'data:1\n\ndata:1234\n\n', [event('1'), 'oversize', noId]],
  ])('the limit: %s', (_, input, expected) => {
    const bytes = latin1(input)
    expect(events([bytes], 8)).toEqual(expected)
    expect(events(singles(bytes), 8)).toEqual(expected)
    for (const pieces of halves(bytes)) expect(events(pieces, 8)).toEqual(expected)
  })

  test('any cutting of the bytes gives the same events', () => {
    const fields = ['data: a', 'data', 'id: 1', 'id: 2\0', 'event: t', 'retry: 5', ': c', 'x: y']
    const pieces = [...fields, 'data: é', '\n', '\r', '\r\n', '\n\n', '\r\n\r\n', '\ufeff']
    const input = fc.array(
      fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...pieces).map(text => Buffer.from(text)) },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 4 }) },
      ),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(input, fc.array(fc.nat(30)), (parts, sizes) => {
        const bytes = Buffer.concat(parts)
        const whole = events([bytes], 24)
        expect(events(cutBy(bytes, sizes), 24)).toEqual(whole)
        expect(events(singles(bytes), 24)).toEqual(whole)
      }),
    )
  })

  test('nothing is reported after the end', () => {
    const { reader, expected } = recorder(100)
    reader.push(latin1('data: a\n'))
    expect(reader.end()).toBe(true)
    reader.push(latin1('\n\ndata: b\n\n'))
    expect(expected).toEqual([])
    expect(reader.end()).toBe(false)
  })

  test('a sink need not care for retry', () => {
    const seen: string[] = []
    const sink: SseSink = { event: ({ data }) => seen.push(data), oversize: () => {} }
    new SseReader(sink, 100).push(latin1('retry: 1\ndata: a\n\n'))
    expect(seen).toEqual(['a'])
  })

  test.each([
    ['single bytes of one line', 5_000, Uint8Array.of(120)],
    ['short data lines of one event', 2_000, latin1('data: abc\n')],
    ['empty data lines of one event', 2_000, latin1('data\r\n')],
    ['lines without a colon', 2_000, latin1('xxxx\n')],
    ['events', 1_000, latin1('data: abc\r\n\r\n')],
  ])('time is in proportion to the number of %s', (_, size, chunk) => {
    const ratio = growth(size, count => {
      const { reader } = recorder(100 * MiB)
      for (let left = count; left > 0; left--) reader.push(chunk)
    })
    expect(ratio).toBeLessThan(proportional)
  })

  test.each([
    ['line feeds', 'data: abc\n'],
    ['carriage returns', 'data: abc\r'],
    ['both', 'data: abc\r\ndata: abc\rx\n'],
  ])('time is in proportion to the lines in one chunk that end in %s', (_, line) => {
    const ratio = growth(2_000, count => {
      recorder(100 * MiB).reader.push(latin1(line.repeat(count)))
    })
    expect(ratio).toBeLessThan(proportional)
  })

  test.each([
    ['one endless line', 'x'],
    ['endless data', 'data: xxxx\n'],
    ['endless empty data', 'data\n'],
    ['endless comments', ': x\n'],
  ])('no more than the limit is held: %s', (_, piece) => {
    const { reader } = recorder(MiB)
    const most = held(3, () => {
      for (let count = 0; count < 8; count++) reader.push(latin1(piece.repeat(64 * 1024)))
    })
    expect(most).toBeLessThan(4 * MiB)
  })
})

describe('writing an event', () => {
  test.each<[what: string, event: OutgoingEvent, text: string]>([
    ['data alone', { data: 'a' }, 'data: a\n\n'],
    ['no data', { data: '' }, 'data: \n\n'],
    [
      'all fields',
      { data: 'a', event: 't', id: '1', retry: 5 },
      'event: t\nid: 1\nretry: 5\ndata: a\n\n',
    ],
    ['a retry of 0', { data: 'a', retry: 0 }, 'retry: 0\ndata: a\n\n'],
    ['an empty id', { data: 'a', id: '' }, 'id: \ndata: a\n\n'],
    [
      'data of several lines',
      { data: 'a\nb\rc\r\nd\n\ne' },
      'data: a\ndata: b\ndata: c\ndata: d\ndata: \ndata: e\n\n',
    ],
    ['data ending in a line end', { data: 'a\n' }, 'data: a\ndata: \n\n'],
    ['data that looks like a field', { data: 'a\nid: 9' }, 'data: a\ndata: id: 9\n\n'],
    ['U+2028 is left alone', { data: 'a\u2028b' }, 'data: a\u2028b\n\n'],
  ])('%s', (_, outgoing, text) => {
    expect(writeEvent(outgoing)).toBe(text)
  })

  test.each<[what: string, event: OutgoingEvent]>([
    ['an id with LF', { data: 'a', id: '1\ndata: b' }],
    ['an id with CR', { data: 'a', id: '1\r' }],
    ['an id with NUL', { data: 'a', id: '\0' }],
    ['a type with LF', { data: 'a', event: '\n' }],
    ['a type with CR', { data: 'a', event: 't\rdata: b' }],
    ['a type with NUL', { data: 'a', event: 't\0' }],
    ['a negative retry', { data: 'a', retry: -1 }],
    ['a fraction', { data: 'a', retry: 1.5 }],
    ['no number', { data: 'a', retry: Number.NaN }],
    ['no end', { data: 'a', retry: Number.POSITIVE_INFINITY }],
  ])('%s is refused', (_, outgoing) => {
    expect(() => writeEvent(outgoing)).toThrow(TypeError)
  })

  test('whose data is a line of JSON is the same, written quickly', () => {
    const data = JSON.stringify({ text: 'a\r\n\u2028b', n: 1 })
    expect(writeLine(data)).toBe(writeEvent({ data }))
    const event = 'message'
    expect(writeLine(data, 'event: message\nid: 1\n')).toBe(writeEvent({ data, event, id: '1' }))
    expect(writeLine('', 'id: 1\n')).toBe(writeEvent({ data: '', id: '1' }))
  })

  test('what is written is read back, line ends as line feeds', () => {
    const line = fc.string({ unit: 'grapheme' }).filter(text => !/[\r\n\0]/.test(text))
    const anyData = fc
      .array(fc.oneof(line, fc.constantFrom('\r', '\n', '\r\n')))
      .map(p => p.join(''))
    const written = fc.record({ data: anyData, event: line, id: line, retry: fc.nat() })
    fc.assert(
      fc.property(fc.array(written), fc.array(fc.nat(30)), (all, sizes) => {
        const text = all.map(each => writeEvent(each) + writeComment(each.data)).join('')
        const expected = all.flatMap(each => [
          `retry ${each.retry}`,
          event(each.data.replace(/\r\n?/g, '\n'), each.id, each.event || 'message'),
        ])
        const read = events(cutBy(Buffer.from(text), sizes), MiB)
        expect(read).toEqual([...expected, `last id ${JSON.stringify(all.at(-1)?.id ?? '')}`])
      }),
    )
  })

  test('every line of a comment is one', () => {
    expect(writeComment('a\ndata: b\r\n\rc')).toBe(': a\n: data: b\n: \n: c\n\n')
    expect(events([latin1(writeComment('a\n\ndata: b'))], 100)).toEqual([noId])
  })
})

function recorder(maxBytes: number): { reader: SseReader; expected: string[] } {
  const expected: string[] = []
  const reader = new SseReader(
    { event: () => expected.push('event'), oversize: () => expected.push('oversize') },
    maxBytes,
  )
  return { reader, expected }
}

function cutBy(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let at = 0
  for (const size of sizes) {
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return [...pieces, bytes.subarray(at)]
}
