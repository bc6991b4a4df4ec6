import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import type { EventStream, HttpOutboundOptions, HttpReply, HttpRequest } from '../exchange.ts'
import { type HttpTimeouts, type NodeServer, nodeServer } from './server.ts'

type Handle = (request: HttpRequest, reply: HttpReply) => void

interface Line {
  readonly client: Socket
  readonly front: NodeServer
  /** The server's end of the connection. */
  readonly behind: Socket
  say(text: string): void
  /** Everything that has arrived, as soon as it matches. */
  until(fits: RegExp): Promise<string>
}

/** A connection to a server with this handler. */
async function line(
  handle: Handle,
  options: HttpTimeouts & HttpOutboundOptions = {},
): Promise<Line> {
  const front = nodeServer({ handle, drain: async () => {}, close: async () => {} }, options)
  const { server } = front
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    allowHalfOpen: true,
  })
  let text = ''
  client.setEncoding('utf8').on('data', chunk => {
    text += chunk
  })
  client.on('error', () => {})
  onTestFinished(() => {
    client.destroy()
    front.cut()
    server.close()
  })
  const [[behind]] = await Promise.all([once(server, 'connection'), once(client, 'connect')])
  return {
    client,
    front,
    behind,
    say: words => void client.write(words),
    async until(fits) {
      while (!fits.test(text)) await once(client, 'data')
      return text
    },
  }
}

/** Responds with the request it got, and with which parser read it. */
const echo: Handle = (request, reply) => {
  request.body(1000, bytes => {
    const body = bytes === undefined ? 'too large' : Buffer.from(bytes).toString()
    const read = request.constructor.name === 'FastRequest' ? 'here' : 'by Node'
    reply.send(200, { 'x-read': read }, `${request.method} ${request.path} ${body};`)
  })
}

function post(path: string, body: string, ...fields: string[]): string {
  const length = `content-length: ${Buffer.byteLength(body)}`
  const head = [`POST ${path} HTTP/1.1`, 'host: a', length, ...fields]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

const inChunks = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

const reads = (text: string): string[] =>
  Array.from(text.matchAll(/x-read: (.*)\r/g), ([, by]) => by ?? '')
const answers = (text: string): string[] => text.match(/\w+ \/\w* [^;]*;/g) ?? []

describe('a request that arrives whole', () => {
  test('gets a response with a complete head', async () => {
    const { say, until } = await line(echo, { idleTimeoutMs: 7000 })
    say(post('/mcp?x=1', 'één'))
    const text = await until(/;$/)
    expect(text.replace(/Date: .*/, 'Date: now')).toBe(
      'HTTP/1.1 200 OK\r\nx-read: here\r\nDate: now\r\nConnection: keep-alive\r\nKeep-Alive: timeout=7\r\ncontent-length: 16\r\n\r\nPOST /mcp één;',
    )
    expect(Math.abs(Date.parse(/Date: (.*)/.exec(text)?.[1] ?? '') - Date.now())).toBeLessThan(
      60_000,
    )
  })

  test('has its headers, its origin, and a limit on its body', async () => {
    const seen: unknown[] = []
    const { say, until, behind } = await line((request, reply) => {
      seen.push(request.headers, request.header('x-one'), request.origin(), request.local())
      request.body(3, bytes => seen.push(bytes))
      reply.send(202, {})
    })
    say(post('/', 'four', 'X-One: 1', 'origin: http://b', 'sec-fetch-site: cross-site'))
    expect(await until(/\r\n\r\n/)).toMatch(
      /^HTTP\/1.1 202 Accepted\r\n[\s\S]*content-length: 0\r\n\r\n$/,
    )
    const headers = {
      host: 'a',
      'content-length': '4',
      'x-one': '1',
      origin: 'http://b',
      'sec-fetch-site': 'cross-site',
    }
    expect(seen).toEqual([
      headers,
      '1',
      { hosts: ['a'], origins: ['http://b'], target: '/', site: 'cross-site' },
      { port: behind.localPort, loopback: true },
      undefined,
    ])
  })

  test('gets no Content-Length where the status has no body', async () => {
    const { say, until } = await line((_, reply) => reply.send(204, {}))
    say(post('/', ''))
    expect(await until(/\r\n\r\n/)).not.toContain('content-length')
  })

  test('is followed by others on the same connection, whichever parser reads them', async () => {
    const { say, until } = await line(echo)
    say(post('/a', '1'))
    await until(/\/a 1;/)
    say(post('/b', '2'))
    await until(/\/b 2;/)
    say(inChunks('/c', '3'))
    await until(/\/c 3;/)
    say(post('/d', '4'))
    expect(reads(await until(/\/d 4;/))).toEqual(['here', 'here', 'by Node', 'by Node'])
  })

  test('is answered in order when several are pipelined', async () => {
    const replies: (() => void)[] = []
    const { say, until } = await line((request, reply) => {
      if (request.path === '/a') replies.push(() => echo(request, reply))
      else echo(request, reply)
    })
    say(post('/a', '1') + post('/b', '2') + inChunks('/c', '3') + post('/d', '4'))
    while (replies.length === 0) await new Promise(resolve => setImmediate(resolve))
    replies[0]?.()
    const text = await until(/\/d 4;/)
    expect(answers(text)).toEqual(['POST /a 1;', 'POST /b 2;', 'POST /c 3;', 'POST /d 4;'])
  })

  test('is answered if that can be done at once, even when its client half-closes the connection', async () => {
    const { client, until } = await line(echo)
    client.end(post('/a', '1'))
    const ended = once(client, 'end')
    await until(/\/a 1;/)
    await ended
  })

  test('is the last one where the response says so', async () => {
    const { client, say, until } = await line((_, reply) => {
      reply.send(503, { connection: 'close' }, 'closing;')
    })
    say(post('/a', '1') + post('/b', '2'))
    const ended = once(client, 'end')
    expect(await until(/closing;/)).not.toContain('keep-alive')
    await ended
    expect((await until(/closing;/)).match(/HTTP/g)).toHaveLength(1)
  })

  test('cannot be answered with a header that would be read as two', async () => {
    const thrown: unknown[] = []
    const { say, until } = await line((_, reply) => {
      try {
        reply.send(200, { 'x-one': '1\r\nx-two: 2' }, 'one')
      } catch (error) {
        thrown.push(error)
        reply.send(500, {}, 'no;')
      }
    })
    say(post('/', ''))
    expect(await until(/no;/)).toMatch(/^HTTP\/1.1 500 /)
    expect(thrown).toEqual([new TypeError('the header x-one has an invalid value')])
  })
})

describe('a request that does not', () => {
  test.each([
    ['in two pieces of its head', 'POST /a HTTP/1.1\r\nhost', ': a\r\ncontent-length: 1\r\n\r\n1'],
    ['with its body later', 'POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\n', '1'],
    [
      'in chunks',
      'POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n',
      '1\r\n1\r\n0\r\n\r\n',
    ],
  ])('is read to its end: %s', async (_, first, second) => {
    const { say, until, behind } = await line(echo)
    say(first)
    while (behind.bytesRead < first.length) await new Promise(resolve => setImmediate(resolve))
    say(second)
    expect(reads(await until(/POST \/a 1;/))).toEqual(['by Node'])
    say(post('/b', '2'))
    await until(/POST \/b 2;/)
  })

  test('is refused where no HTTP can be found in it', async () => {
    const { client, say, until } = await line(echo)
    say(post('/a', '1'))
    await until(/\/a 1;/)
    say('no such thing\r\n\r\n')
    await until(/HTTP\/1.1 400 Bad Request/)
    await once(client, 'end')
  })

  test('is refused where its head is too long', async () => {
    const { say, until } = await line(echo)
    say(post('/a', '1', `x: ${'y'.repeat(20_000)}`))
    await until(/HTTP\/1.1 431 /)
  })
})

describe('a connection', () => {
  test('that sends nothing gets 408 and is closed', async () => {
    const { client, until } = await line(echo, { headersTimeoutMs: 20 })
    const ended = once(client, 'end')
    await until(/^HTTP\/1.1 408 /)
    await ended
  })

  test('that is idle is closed after a while', async () => {
    const { client, say, until } = await line(echo, { idleTimeoutMs: 20 })
    say(post('/a', '1'))
    const ended = once(client, 'end')
    expect(await until(/\/a 1;/)).toContain('Keep-Alive: timeout=0')
    await ended
  })

  test('with a response pending is not idle', async () => {
    const replies: HttpReply[] = []
    const { client, front, say, until } = await line((_, reply) => void replies.push(reply))
    say(post('/a', '1'))
    while (replies.length === 0) await new Promise(resolve => setImmediate(resolve))
    front.closeIdle()
    replies[0]?.send(200, {}, 'done;')
    await until(/done;/)
    const ended = once(client, 'end')
    front.closeIdle()
    await ended
  })

  test('that is closed while it is idle does not begin a request that is on its way, and says so', async () => {
    const paths: string[] = []
    const { client, front, say, until } = await line((request, reply) => {
      paths.push(request.path)
      reply.send(200, {}, 'done;')
    })
    say(post('/a', '1'))
    await until(/done;/)
    const ended = once(client, 'end')
    front.closeIdle()
    say(post('/b', '1'))
    await until(/HTTP\/1.1 408 [\s\S]*trunkline-request: not-begun\r\n\r\n$/)
    await ended
    expect(paths).toEqual(['/a'])
  })

  test('that is lost in the middle of a response reports it, once, and only then', async () => {
    const calls: string[] = []
    const { client, say, until } = await line((request, reply) => {
      reply.onDisconnect(() => calls.push(`one ${request.path}`))
      reply.onDisconnect(() => calls.push(`two ${request.path}`))
      if (request.path === '/a') reply.send(200, {}, 'done;')
    })
    say(post('/a', ''))
    await until(/done;/)
    say(post('/b', ''))
    client.end()
    while (calls.length < 2) await new Promise(resolve => setImmediate(resolve))
    expect(calls).toEqual(['one /b', 'two /b'])
  })

  test('whose client sends requests and does not read gets no further responses', async () => {
    let asked = 0
    const large = 'x'.repeat(4_000_000)
    const { client, say, behind } = await line((_, reply) => {
      asked++
      reply.send(200, {}, large)
    })
    client.pause()
    say(post('/a', '').repeat(10))
    while (!behind.writableNeedDrain) await new Promise(resolve => setImmediate(resolve))
    for (let turns = 0; turns < 50; turns++) await new Promise(resolve => setImmediate(resolve))
    expect(asked).toBeLessThan(4)
    client.resume()
    while (asked < 10) await new Promise(resolve => setImmediate(resolve))
  })

  test('is read no further than the limit while a response is pending, and then destroyed', async () => {
    const replies: HttpReply[] = []
    const { say, behind } = await line((_, reply) => void replies.push(reply))
    say(post('/a', '').repeat(20_000))
    while (!behind.destroyed) await new Promise(resolve => setImmediate(resolve))
    // One more chunk may have been in transit.
    expect(behind.bytesRead).toBeLessThan(limits.httpPipelinedBytes.default * 4)
    expect(replies).toHaveLength(1)
  })
})

describe('an event stream', () => {
  test('is sent in chunks, and the connection is used again', async () => {
    const streams: EventStream[] = []
    const { say, until } = await line((request, reply) => {
      if (request.method === 'GET') streams.push(reply.stream({ 'x-own': 'yes' }))
      else echo(request, reply)
    })
    say('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    const head = await until(/\r\n\r\n/)
    expect(head).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(head).toContain('x-own: yes\r\n')
    expect(head).toContain('content-type: text/event-stream\r\n')
    expect(head).toContain('transfer-encoding: chunked\r\n')
    const [events] = streams
    void events?.write('data: één\n\n')
    await until(/n\n\n\r\n$/)
    void events?.write('data: two\n\n')
    events?.end()
    void events?.write('data: too late\n\n')
    const text = await until(/0\r\n\r\n$/)
    expect(text.slice(head.length)).toBe('d\r\ndata: één\n\n\r\nb\r\ndata: two\n\n\r\n0\r\n\r\n')
    say(post('/a', '1'))
    await until(/\/a 1;/)
  })

  test('that ends at once is sent with its size', async () => {
    const { say, until } = await line((request, reply) => {
      const events = reply.stream({})
      void events.write('data: one\n\n')
      events.end()
      expect(reply.isFinished).toBe(true)
      reply.send(500, {}, `never said of ${request.path}`)
    })
    say(post('/a', '1') + post('/b', '2'))
    const text = await until(/one\n\n[\s\S]*one\n\n/)
    expect(text.match(/content-length: 11\r\n/g)).toHaveLength(2)
    expect(text).not.toContain('chunked')
    expect(text).not.toContain('never said')
  })

  test('of a client that stops reading is cut when too much is buffered', async () => {
    const gone: string[] = []
    const { client, say, behind } = await line(
      (_, reply) => {
        reply.onDisconnect(() => gone.push('gone'))
        const events = reply.stream({})
        const more = (): void => {
          for (let wrote = 0; wrote < 100; wrote++) void events.write('x'.repeat(100_000))
          if (gone.length === 0) setImmediate(more)
        }
        more()
      },
      { highWaterBytes: 100_000, maxOutboundBytes: 1_000_000 },
    )
    client.pause()
    say('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await once(behind, 'close')
    expect(gone).toEqual(['gone'])
  })

  test('of a slow client continues as soon as it has read', async () => {
    const rooms: unknown[] = []
    const { client, say } = await line((_, reply) => {
      const events = reply.stream({})
      const room = events.write('x'.repeat(8_000_000))
      rooms.push(room)
      void Promise.resolve(room).then(() => events.write('data: end\n\n'))
    })
    let latest = ''
    client.on('data', chunk => {
      latest = String(chunk)
    })
    say('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    while (!latest.includes('data: end')) await once(client, 'data')
    expect(rooms).toEqual([expect.any(Promise)])
  })
})

test('a WebSocket can be opened on a connection that has served a request before', async () => {
  const { say, until, front } = await line(echo)
  front.server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
  say(post('/a', '1'))
  await until(/\/a 1;/)
  say('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
  await until(/HTTP\/1.1 101/)
})
