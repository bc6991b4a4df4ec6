import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { HttpHandler } from '../exchange.ts'
import { FastRequest } from './fast-request.ts'
import { type HttpServerOptions, nodeServer } from './server.ts'

/** Listens and connects. Returns both ends of the connection. */
async function connected(server: Server): Promise<{ client: Socket; accepted: Socket }> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [[accepted]] = await Promise.all([once(server, 'connection'), once(client, 'connect')])
  onTestFinished(() => {
    client.destroy()
    accepted.destroy()
    server.close()
  })
  return { client, accepted }
}

/** Collects what a client receives, and waits for a part of it. */
function received(client: Socket): (part: string | RegExp) => Promise<string> {
  let text = ''
  client.setEncoding('latin1').on('data', chunk => {
    text += chunk
  })
  return async part => {
    while (typeof part === 'string' ? !text.includes(part) : !part.test(text)) {
      await once(client, 'data')
    }
    return text
  }
}

test('closeIdle closes a connection that has sent nothing, and not one whose request has begun', async () => {
  const service: HttpHandler = { handle: () => {}, drain: async () => {}, close: async () => {} }
  const { server, closeIdle } = nodeServer(service)
  const { client: busy, accepted } = await connected(server)
  busy.write('POST / HTTP/1.1\r\n')
  await once(accepted, 'data')
  const { client: idle } = await connected(server)
  closeIdle()
  idle.resume()
  await once(idle, 'close')
  expect(busy.destroyed).toBe(false)
})

describe('the http.Server of the running Node', () => {
  test('parses a connection by its one `connection` listener, which can be called later', async () => {
    const server = createServer((request, response) => response.end(`served ${request.url}`))
    const listeners = server.listeners('connection')
    expect(listeners).toHaveLength(1)
    server.removeAllListeners('connection')
    let unparsed = ''
    server.on('connection', (socket: Socket) => {
      socket.once('data', bytes => {
        unparsed = bytes.toString()
        socket.pause()
        socket.unshift(bytes)
        for (const listener of listeners) listener.call(server, socket)
        socket.resume()
      })
    })
    const { client } = await connected(server)
    const until = received(client)
    client.write('GET /first HTTP/1.1\r\nhost: a\r\n\r\n')
    await until('served /first')
    expect(unparsed).toContain('GET /first')
    // From here on the connection is like any other: parsed, and closed when it is idle.
    client.write('GET /second HTTP/1.1\r\nhost: a\r\n\r\n')
    await until('served /second')
    expect(unparsed).not.toContain('/second')
    server.closeIdleConnections()
    await once(client, 'close')
  })

  test('times out a request on a connection that was passed to it later', async () => {
    const options = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 10 }
    const server = createServer(options)
    const listeners = server.listeners('connection')
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      for (const listener of listeners) listener.call(server, socket)
    })
    const { client } = await connected(server)
    const until = received(client)
    client.write('GET / HTTP/1.1\r\n')
    expect(await until('HTTP/1.1 408')).toContain('408')
  })
})

describe('the option `parser`', () => {
  /** Responds with the request it got, and counts those of the fast path. */
  function echoing(parser: HttpServerOptions['parser']) {
    let fast = 0
    const handle: HttpHandler['handle'] = (request, reply) => {
      if (request instanceof FastRequest) fast++
      request.body(100, bytes => {
        const body = bytes === undefined ? 'too large' : Buffer.from(bytes).toString()
        const text = `${request.method} ${request.path} ${request.header('x-a')} ${body};`
        if (request.path !== '/events') {
          reply.send(bytes === undefined ? 413 : 200, { 'content-type': 'text/plain' }, text)
          return
        }
        const stream = reply.stream({})
        void stream.write(`data: ${text}\n\n`)
        stream.end()
      })
    }
    const { server } = nodeServer(
      { handle, drain: async () => {}, close: async () => {} },
      { parser },
    )
    return { server, fastRequests: () => fast }
  }

  const body = (text: string) => `content-length: ${text.length}\r\n\r\n${text}`
  const requests: readonly (readonly [name: string, bytes: string, end: RegExp])[] = [
    ['a POST', `POST /a?b HTTP/1.1\r\nhost: a\r\nX-A: 1\r\n${body('hello')}`, /hello;$/],
    ['a GET', 'GET /a HTTP/1.1\r\nhost: a\r\n\r\n', /GET \/a undefined ;$/],
    ['a DELETE', 'DELETE /a HTTP/1.1\r\nhost: a\r\n\r\n', /DELETE \/a undefined ;$/],
    ['an event stream', 'GET /events HTTP/1.1\r\nhost: a\r\n\r\n', /;\n\n$/],
    ['a body over the limit', `POST / HTTP/1.1\r\nhost: a\r\n${body('x'.repeat(101))}`, /large;$/],
    [
      'a chunked body',
      'POST /c HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n',
      /hi;$/,
    ],
    [
      'a header that occurs twice',
      'GET / HTTP/1.1\r\nhost: a\r\nx-a: 1\r\nx-a: 2\r\n\r\n',
      /1, 2 ;$/,
    ],
    [
      'pipelined requests',
      'GET /1 HTTP/1.1\r\nhost: a\r\n\r\nGET /2 HTTP/1.1\r\nhost: a\r\n\r\n',
      /\/1 [^;]*;[^;]*\/2 [^;]*;$/,
    ],
    ['bytes that are not HTTP', 'hello\r\n\r\n', /400 Bad Request[\s\S]*\r\n\r\n$/],
  ]

  test.each(requests)('does not change the response to %s', async (_, bytes, end) => {
    const texts: string[] = []
    for (const parser of ['fast', 'node'] as const) {
      const { server } = echoing(parser)
      const { client } = await connected(server)
      client.write(bytes)
      texts.push(await received(client)(end))
    }
    // The order and the case of headers that both write are not the same.
    const [fast, node] = texts.map(text =>
      text
        .toLowerCase()
        .replace(/^date: .*$/m, 'date')
        .split(/\r\n/)
        .sort(),
    )
    expect(fast).toEqual(node)
  })

  test.each([
    ['fast', 1],
    [undefined, 1],
    ['node', 0],
  ] as const)(
    'of the value %s uses the fast path for %i of two requests',
    async (parser, count) => {
      const { server, fastRequests } = echoing(parser)
      const { client } = await connected(server)
      const until = received(client)
      client.write('GET /1 HTTP/1.1\r\nhost: a\r\n\r\n')
      await until('/1')
      client.write('GET /2 HTTP/1.1\r\nhost: a\r\nte: trailers\r\n\r\n')
      await until('/2')
      expect(fastRequests()).toBe(count)
    },
  )

  test('is checked', () => {
    const service: HttpHandler = { handle: () => {}, drain: async () => {}, close: async () => {} }
    const options = { parser: 'quick' } as unknown as HttpServerOptions
    expect(() => nodeServer(service, options)).toThrow(
      new TypeError('option "http.parser" must be "fast" or "node" (got "quick")'),
    )
  })
})
