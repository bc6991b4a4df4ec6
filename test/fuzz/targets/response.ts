import assert from 'node:assert/strict'
import { request } from 'node:http'
import { Duplex } from 'node:stream'
import { ResponseParser } from '../../../src/http/client/transport/response-parser.ts'
import type { Random } from '../random.ts'
import { target } from '../target.ts'

const pieces = [
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.0 200\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n',
  'content-length: 3\r\n',
  'Content-Length: 03\r\n',
  'content-length: 3, 3\r\n',
  'transfer-encoding: chunked\r\n',
  'transfer-encoding: identity\r\n',
  'connection: close\r\n',
  'x: y\r\n',
  ' folded\r\n',
  '\r\n',
  '\n',
  '\r',
  ':',
  '\0',
  '3\r\nabc\r\n',
  '0\r\n\r\n',
  '-1\r\n',
  'fffffffffffff\r\n',
  '3;x=y\r\n',
  'abc',
] as const

interface Parsed {
  readonly head: unknown
  readonly body: string
  readonly end: 'none' | 'reusable' | 'last' | 'invalid'
}

/**
 * Responses: the same result however they are split, bounded headers, and the same result as the
 * parser of Node where both find a complete response.
 */
export const responseTarget = target(
  'response',
  random => {
    const bytes = hostile(random)
    return { bytes, cut: random.cut(bytes), maxBytes: random.once(2) ? 10_000 : random.int(120) }
  },
  async ({ bytes, cut, maxBytes }) => {
    const whole = parse([bytes], maxBytes)
    assert.deepEqual(parse(cut, maxBytes), whole)
    assert.ok(whole.body.length <= bytes.length, 'nothing is added to a body')
    if (whole.head !== undefined) {
      const end = Buffer.from(bytes).indexOf('\r\n\r\n')
      assert.ok(end !== -1 && end <= maxBytes, 'the headers are bounded')
    }
    if (whole.end !== 'reusable' && whole.end !== 'last') return
    const node = await byNode(bytes)
    // Node rejects more in places where nothing depends on it, such as trailers.
    if (node !== undefined) assert.deepEqual({ head: whole.head, body: whole.body }, node)
  },
)

function hostile(random: Random): Uint8Array {
  if (random.once(4)) return random.mix(pieces, 14)
  const body = 'b'.repeat(random.int(8))
  const isChunked = random.once(2)
  const status = random.pick(['200 OK', '200', '404 Not Found', '204 No Content', '304 x'])
  const lines = [`HTTP/1.1 ${status}`, 'Content-Type: text/plain', 'x-a:  1\t', 'x-a: 2']
  lines.push(isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`)
  if (random.once(4)) lines.push(random.pick(['Connection: close', 'Keep-Alive: timeout=5']))
  const chunks = [body.slice(0, 3), body.slice(3)].filter(chunk => chunk !== '')
  const sent = chunks.map(chunk => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')
  let text = `${lines.join('\r\n')}\r\n\r\n${isChunked ? `${sent}0\r\n\r\n` : body}`
  if (random.once(4)) text = `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${text}`
  for (let left = random.int(3); left > 0; left--) {
    const at = random.int(text.length + 1)
    text = text.slice(0, at) + random.pick(pieces) + text.slice(at + random.int(3))
  }
  return Buffer.from(text, 'latin1')
}

function parse(chunks: readonly Uint8Array[], maxBytes: number): Parsed {
  let head: unknown
  let body = ''
  let end: Parsed['end'] = 'none'
  const parser = new ResponseParser(
    {
      head: ({ status, headers }) => {
        assert.equal(head, undefined, 'one response has one head')
        head = { status, headers: Object.fromEntries(headers) }
      },
      piece: bytes => {
        assert.ok(head !== undefined && end === 'none', 'a body follows its head')
        body += Buffer.from(bytes).toString('latin1')
      },
      end: isLast => {
        assert.equal(end, 'none', 'a response ends once')
        end = isLast ? 'last' : 'reusable'
      },
      invalid: () => {
        // Bytes after a response are found with its end or later, depending on how they are split.
        end = end === 'none' ? 'invalid' : 'last'
      },
    },
    maxBytes,
  )
  parser.begin()
  for (const chunk of chunks) parser.push(Buffer.from(chunk))
  parser.finish()
  return { head, body, end }
}

/** Returns the response as `node:http` parses it; undefined if it rejects the bytes. */
function byNode(bytes: Uint8Array): Promise<Omit<Parsed, 'end'> | undefined> {
  return new Promise(resolve => {
    const socket = new Duplex({ read() {}, write: (_, __, done) => done() })
    const sent = request({ createConnection: () => socket, agent: false }, response => {
      const head = { status: response.statusCode, headers: joined(response.rawHeaders) }
      let body = ''
      response.setEncoding('latin1').on('data', text => {
        body += text
      })
      response.on('end', () => resolve({ head, body }))
      response.on('error', () => resolve(undefined))
    })
    sent.on('error', () => resolve(undefined))
    sent.on('close', () => resolve(undefined))
    sent.end()
    socket.push(bytes)
    socket.push(null)
  })
}

function joined(raw: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    const value = raw[at + 1] ?? ''
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value
  }
  return headers
}
