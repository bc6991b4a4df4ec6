import { createServer } from 'node:http'
import { Duplex } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { readHead } from './request-head.ts'

const lines = (...all: string[]): string => all.join('\r\n')

describe('the head of a request', () => {
  test('with common headers is parsed', () => {
    const text = lines(
      'POST /mcp?a=b HTTP/1.1',
      'Host: localhost:3000',
      'content-length: 12',
      'Accept:application/json,\ttext/event-stream ',
      'Connection: Keep-Alive',
      'x-empty:',
    )
    expect(readHead(text, 100)).toEqual({
      method: 'POST',
      target: '/mcp?a=b',
      bodyBytes: 12,
      headers: new Map([
        ['host', 'localhost:3000'],
        ['content-length', '12'],
        ['accept', 'application/json,\ttext/event-stream'],
        ['connection', 'Keep-Alive'],
        ['x-empty', ''],
      ]),
    })
  })

  test.each(['GET', 'DELETE'])('of a %s needs no length', method => {
    expect(readHead(lines(`${method} /mcp HTTP/1.1`, 'host: a'), 100)?.bodyBytes).toBe(0)
  })

  test.each([
    ['another method', ['PUT / HTTP/1.1', 'host: a']],
    ['a method in lower case', ['post / HTTP/1.1', 'host: a']],
    ['HTTP/1.0', ['POST / HTTP/1.0', 'host: a']],
    ['the absolute form', ['POST http://a/ HTTP/1.1', 'host: a']],
    ['a target with a blank', ['POST /a b HTTP/1.1', 'host: a']],
    ['a target that is not ASCII', ['POST /\xe9 HTTP/1.1', 'host: a']],
    ['two blanks', ['POST  / HTTP/1.1', 'host: a']],
    ['no host', ['POST / HTTP/1.1', 'content-length: 1']],
    ['two hosts', ['POST / HTTP/1.1', 'host: a', 'Host: a']],
    ['two lengths', ['POST / HTTP/1.1', 'host: a', 'content-length: 1', 'content-length: 1']],
    ['a list of lengths', ['POST / HTTP/1.1', 'host: a', 'content-length: 1, 1']],
    ['a length with a sign', ['POST / HTTP/1.1', 'host: a', 'content-length: +1']],
    ['a length in hexadecimal', ['POST / HTTP/1.1', 'host: a', 'content-length: 0x1']],
    ['a tab after the length', ['POST / HTTP/1.1', 'host: a', 'content-length: 1\t']],
    ['an empty length', ['POST / HTTP/1.1', 'host: a', 'content-length:']],
    [
      'a length beyond counting',
      ['POST / HTTP/1.1', 'host: a', 'content-length: 1234567890123456'],
    ],
    ['a body in chunks', ['POST / HTTP/1.1', 'host: a', 'transfer-encoding: chunked']],
    ['an expectation', ['POST / HTTP/1.1', 'host: a', 'expect: 100-continue']],
    ['an upgrade', ['GET / HTTP/1.1', 'host: a', 'connection: upgrade', 'upgrade: websocket']],
    ['a last request', ['GET / HTTP/1.1', 'host: a', 'connection: close']],
    ['options of a connection', ['GET / HTTP/1.1', 'host: a', 'connection: keep-alive, x']],
    ['a folded line', ['GET / HTTP/1.1', 'host: a', 'x: y', ' z']],
    ['a blank before the colon', ['GET / HTTP/1.1', 'host : a']],
    ['no colon', ['GET / HTTP/1.1', 'host: a', 'nothing']],
    ['no name', ['GET / HTTP/1.1', 'host: a', ': b']],
    ['a control character', ['GET / HTTP/1.1', 'host: a', 'x: \0']],
    ['a line feed alone', ['GET / HTTP/1.1', 'host: a', 'x: y\nz: 1']],
    ['a carriage return alone', ['GET / HTTP/1.1', 'host: a', 'x: y\rz']],
    ['nothing at all', ['']],
  ])('with %s is left to node:http', (_, all) => {
    expect(readHead(lines(...all), 100)).toBeUndefined()
  })

  test('with more headers than the limit is left to node:http', () => {
    const fields = Array.from({ length: 99 }, (_, at) => `x-${at}: y`)
    expect(readHead(lines('GET / HTTP/1.1', 'host: a', ...fields), 100)).toBeDefined()
    expect(readHead(lines('GET / HTTP/1.1', 'host: a', 'x: y', ...fields), 100)).toBeUndefined()
  })
})

/** The head as `node:http` parses these bytes; undefined where it rejects them. */
function byNode(
  text: string,
): Promise<{ line: string; headers: unknown; body: string } | undefined> {
  return new Promise(resolve => {
    const server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', part => parts.push(part))
      request.on('end', () => {
        const body = Buffer.concat(parts).toString('latin1')
        resolve({ line: `${request.method} ${request.url}`, headers: { ...request.headers }, body })
        response.destroy()
      })
    })
    server.on('clientError', () => resolve(undefined))
    const connection = new Duplex({ read() {}, write: (_, __, done) => done() })
    server.emit('connection', connection)
    connection.push(Buffer.from(text, 'latin1'))
    connection.push(null)
  })
}

/** A pseudo-random sequence that is the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state % below
  }
}

test('every head that is accepted is parsed as node:http parses it', async () => {
  const next = numbers(7)
  const pieces = [
    ' ',
    '\t',
    '\r',
    '\n',
    '\r\n',
    ':',
    ',',
    '\0',
    '\x7f',
    '\x80',
    '\xff',
    '/',
    '?',
    '#',
    '%',
    '0',
    '1',
    '-',
    '+',
    'a',
    'Z',
    '_',
    '"',
    '(',
    '@',
    '[',
    'host: b\r\n',
    'content-length: 3\r\n',
    'x-y: z\r\n',
    'transfer-encoding: chunked\r\n',
    'HTTP/1.1',
    'POST ',
    '__proto__: x\r\n',
    'cookie: a\r\n',
  ]
  const whole = lines(
    'POST /mcp?x=1 HTTP/1.1',
    'host: localhost:1',
    'content-type: application/json',
    'content-length: 5',
    'mcp-name: one',
    '',
    'hello',
  )
  let taken = 0
  for (let round = 0; round < 3000; round++) {
    let text = whole
    for (let changes = next(3); changes >= 0; changes--) {
      const at = next(text.length + 1)
      text = text.slice(0, at) + (pieces[next(pieces.length)] ?? '') + text.slice(at + next(3))
    }
    const end = text.indexOf('\r\n\r\n')
    const head = end === -1 ? undefined : readHead(text.slice(0, end), 100)
    const start = end + 4
    if (head === undefined || text.length < start + head.bodyBytes) continue
    taken++
    const stop = start + head.bodyBytes
    expect(await byNode(text.slice(0, stop)), JSON.stringify(text)).toEqual({
      line: `${head.method} ${head.target}`,
      headers: Object.fromEntries(head.headers),
      body: text.slice(start, stop),
    })
  }
  expect(taken).toBeGreaterThan(300)
})
