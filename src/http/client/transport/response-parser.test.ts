import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../../util/limits/limits.ts'
import { type ResponseHead, ResponseParser } from './response-parser.ts'

const maxHeadBytes = limits.httpResponseHeaderBytes.default

interface Parsed {
  heads: ResponseHead[]
  body: string
  ends: boolean[]
  invalid: string[]
}

/** Parses one response, in pieces that end at `cuts`. */
function read(text: string, cuts: readonly number[] = [], finish = false): Parsed {
  const parsed: Parsed = { heads: [], body: '', ends: [], invalid: [] }
  const reader = new ResponseParser(
    {
      head: head => void parsed.heads.push(head),
      piece: bytes => {
        parsed.body += Buffer.from(bytes).toString('latin1')
      },
      end: isLast => void parsed.ends.push(isLast),
      invalid: why => void parsed.invalid.push(why),
    },
    maxHeadBytes,
  )
  reader.begin()
  const bytes = Buffer.from(text, 'latin1')
  let from = 0
  for (const cut of [...cuts, bytes.length].sort((a, b) => a - b)) {
    reader.push(bytes.subarray(from, cut))
    from = Math.max(from, cut)
  }
  if (finish) reader.finish()
  return parsed
}

const ok = 'HTTP/1.1 200 OK\r\n'

describe('a response', () => {
  test('with a length has a head, a body and an end', () => {
    const parsed = read(
      `${ok}Content-Type: text/plain\r\nX-A:  1 \t\r\nx-a: 2\r\ncontent-length: 3\r\n\r\nabc`,
    )
    expect(parsed).toMatchObject({ body: 'abc', ends: [false], invalid: [] })
    expect(parsed.heads).toMatchObject([{ status: 200, reason: 'OK' }])
    expect([...(parsed.heads[0]?.headers ?? [])]).toEqual([
      ['content-type', 'text/plain'],
      ['x-a', '1, 2'],
      ['content-length', '3'],
    ])
  })

  test.each([
    ['no body by its length', `${ok}content-length: 0\r\n\r\n`, ''],
    ['no body by its status', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
    ['no words', 'HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx', 'x'],
    [
      'chunks',
      `${ok}transfer-encoding: Chunked\r\n\r\n2\r\nab\r\n1;x="y"\r\nc\r\n0\r\n\r\n`,
      'abc',
    ],
    ['trailers', `${ok}transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx: y\r\n\r\n`, 'a'],
    [
      'others ahead of it',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\na: b\r\n\r\n${ok}content-length: 1\r\n\r\nx`,
      'x',
    ],
    ['bytes beyond ASCII', `${ok}x: \xfc\r\ncontent-length: 1\r\n\r\n\xff`, '\xff'],
  ])('with %s leaves its connection for others', (_, text, body) => {
    expect(read(text)).toMatchObject({ heads: [{}], body, ends: [false], invalid: [] })
  })

  test.each([
    ['that says so', `${ok}connection: x, Close\r\ncontent-length: 1\r\n\r\nx`],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx'],
    ['with something behind it', `${ok}content-length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n`],
    [
      'with something behind its chunks',
      `${ok}transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\ny`,
    ],
  ])('%s is the last of its connection', (_, text) => {
    expect(read(text)).toMatchObject({ body: 'x', ends: [true] })
  })

  test('without a length ends with its connection', () => {
    const text = `${ok}content-type: text/plain\r\n\r\nabc`
    expect(read(text)).toMatchObject({ body: 'abc', ends: [] })
    expect(read(text, [], true)).toMatchObject({ body: 'abc', ends: [true] })
  })

  test.each([
    ['with a length', `${ok}content-length: 5\r\n\r\nabc`],
    ['in chunks', `${ok}transfer-encoding: chunked\r\n\r\n1\r\na\r\n`],
    ['in its head', `${ok}content-`],
  ])('%s that breaks off has no end', (_, text) => {
    expect(read(text, [], true)).toMatchObject({ ends: [], invalid: [] })
  })

  test('is the same in any chunks', () => {
    const text = `HTTP/1.1 100 Continue\r\n\r\n${ok}a: b\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\na;b\r\n0123456789\r\n0\r\nt: u\r\n\r\n`
    const whole = read(text)
    expect(whole).toMatchObject({ body: 'abc0123456789', ends: [false] })
    const cutting = fc.array(fc.nat(text.length), { maxLength: text.length })
    fc.assert(fc.property(cutting, cuts => void expect(read(text, cuts)).toEqual(whole)))
    expect(
      read(
        text,
        [...text].map((_, at) => at),
      ),
    ).toEqual(whole)
  })
})

describe('uncommon syntax is rejected', () => {
  const field = (line: string) => `${ok}${line}\r\n\r\nbody`
  test.each([
    ['another protocol', 'SSH-2.0-x\r\n'],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['no status', 'HTTP/1.1 abc\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a line feed alone', `${ok}content-length: 1\n\r\nx`],
    ['a protocol upgrade', 'HTTP/1.1 101 Switching\r\n\r\n'],
    ['a folded header', field('x: a\r\n b')],
    ['a header without a colon', field('x')],
    ['a header without a name', field(': x')],
    ['a space before the colon', field('content-length : 4')],
    ['a carriage return in a header', field('x: a\rb')],
    ['a zero byte in a header', field('x: a\0b')],
    ['two lengths', field('content-length: 4\r\ncontent-length: 4')],
    ['a list of lengths', field('content-length: 4, 4')],
    ['a negative length', field('content-length: -1')],
    ['a length with a sign', field('content-length: +4')],
    ['a length in hex', field('content-length: 0x4')],
    ['an endless length', field('content-length: 99999999999999999999')],
    ['a length and chunks', field('content-length: 4\r\ntransfer-encoding: chunked')],
    ['packed chunks', field('transfer-encoding: gzip, chunked')],
    ['chunks twice', field('transfer-encoding: chunked\r\ntransfer-encoding: chunked')],
    ['no size of a chunk', `${field('transfer-encoding: chunked')}`],
    ['a negative size', `${ok}transfer-encoding: chunked\r\n\r\n-1\r\n`],
    ['a size in hex with 0x', `${ok}transfer-encoding: chunked\r\n\r\n0x1\r\n`],
    ['a size too large', `${ok}transfer-encoding: chunked\r\n\r\nfffffffffffff\r\n`],
    ['a chunk longer than its size', `${ok}transfer-encoding: chunked\r\n\r\n1\r\nabc\r\n`],
  ])('%s', (_, text) => {
    const { invalid, ends } = read(`${text}${text.endsWith('body') ? '\r\n' : ''}`)
    expect(invalid).toHaveLength(1)
    expect(ends).toEqual([])
  })

  test('bytes without a request', () => {
    const parsed: string[] = []
    const sink = {
      head() {},
      piece() {},
      end() {},
      invalid: (why: string) => void parsed.push(why),
    }
    new ResponseParser(sink, maxHeadBytes).push(Buffer.from(ok))
    expect(parsed).toHaveLength(1)
  })
})

test('any input is a response, or invalid, or incomplete', () => {
  const line = fc.constantFrom(
    ok,
    '\r\n',
    '\n',
    'content-length: 2\r\n',
    'transfer-encoding: chunked\r\n',
    'connection: close\r\n',
    '2\r\n',
    'ab\r\n',
    '0\r\n',
    'HTTP/1.1 100 X\r\n',
    'HTTP/1.1 204 X\r\n',
  )
  const parts = fc.array(fc.oneof(line, fc.string({ unit: 'binary-ascii', maxLength: 5 })))
  fc.assert(
    fc.property(parts, fc.array(fc.nat(200)), (texts, cuts) => {
      const text = texts.join('')
      const parsed = read(text, cuts, true)
      expect(parsed.ends.length).toBeLessThanOrEqual(parsed.heads.length)
      expect(parsed.heads.length).toBeLessThanOrEqual(1)
      expect(parsed.invalid.length).toBeLessThanOrEqual(1)
      expect(parsed.body.length).toBeLessThanOrEqual(text.length)
    }),
  )
})

describe('headers over the limit are rejected', () => {
  const line = `x: ${'y'.repeat(1000)}\r\n`
  test.each([
    ['in one line', `${ok}x: ${'y'.repeat(maxHeadBytes)}\r\n\r\n`],
    ['in one line without an end', `${ok}x: ${'y'.repeat(maxHeadBytes)}`],
    ['in many lines', `${ok}${line.repeat(20)}\r\n`],
    ['before the response', `HTTP/1.1 100 X\r\n\r\n`.repeat(2000)],
    ['behind the body', `${ok}transfer-encoding: chunked\r\n\r\n0\r\n${line.repeat(20)}\r\n`],
    ['beside a chunk', `${ok}transfer-encoding: chunked\r\n\r\n1;${'y'.repeat(maxHeadBytes)}`],
  ])('%s', (_, text) => {
    expect(read(text).invalid).toEqual([`more than ${maxHeadBytes} bytes of headers`])
  })
})

test('nothing is parsed after stop', () => {
  const parsed: string[] = []
  const reader = new ResponseParser(
    {
      head: () => {
        parsed.push('head')
        reader.stop()
      },
      piece: () => void parsed.push('piece'),
      end: () => void parsed.push('end'),
      invalid: () => void parsed.push('invalid'),
    },
    maxHeadBytes,
  )
  for (const framing of [
    'content-length: 0',
    'content-length: 1',
    'transfer-encoding: chunked',
    'x: y',
  ]) {
    reader.begin()
    reader.push(Buffer.from(`${ok}${framing}\r\n\r\n1\r\nx\r\n0\r\n\r\n`))
    reader.finish()
  }
  expect(parsed).toEqual(['head', 'head', 'head', 'head'])
})
