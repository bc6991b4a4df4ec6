import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import type { EventStream, HttpHandler } from '../exchange.ts'
import { serveNode } from './handler.ts'
import { nodeHost } from './host.ts'

interface Opened {
  readonly events: EventStream
  /** Everything the client receives, up to this text. */
  until(words: string): Promise<string>
  close(): void
}

/** Sends this request to a server that responds with an event stream, and returns both ends of it. */
async function opened(
  asks: string,
  prepare = (_: ServerResponse) => {},
  begin = (_: EventStream) => {},
): Promise<Opened> {
  const streams: EventStream[] = []
  const service: HttpHandler = {
    handle: (_, reply) => {
      const stream = reply.stream({ 'x-own': 'yes' })
      streams.push(stream)
      begin(stream)
    },
    drain: async () => {},
    close: async () => {},
  }
  const server = createServer((request, response) => {
    prepare(response)
    serveNode(service, request, response, nodeHost())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let text = ''
  client.setEncoding('utf8').on('data', chunk => {
    text += chunk
  })
  const until = async (words: string): Promise<string> => {
    while (!text.includes(words)) await once(client, 'data')
    return text
  }
  client.write(asks)
  await until('\r\n\r\n')
  const [events] = streams
  if (events === undefined) throw new Error('the request has not arrived')
  return {
    events,
    until,
    close() {
      client.destroy()
      server.close()
    },
  }
}

const body = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4)

test.each([
  ['plain', 'data: one\n\n', 'b\r\ndata: one\n\n\r\n'],
  ['not ASCII', 'data: één\n\n', 'd\r\ndata: één\n\n\r\n'],
])('what is written later arrives as chunks of the right size: %s', async (_, event, chunk) => {
  const { events, until, close } = await opened('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  void events.write(event)
  await until(event)
  void events.write(event)
  events.end()
  expect(body(await until('\r\n0\r\n\r\n'))).toBe(`${chunk}${chunk}0\r\n\r\n`)
  close()
})

test.each([
  ['of one event', ['data: one\n\n'], 11],
  ['of several', ['data: one\n\n', 'data: één\n\n'], 24],
  ['of none', [], 0],
])(
  'a stream %s that ends at once is sent with its size, and not in chunks',
  async (_, events, size) => {
    const end = (stream: EventStream): void => {
      for (const event of events) void stream.write(event)
      stream.end()
      void stream.write('data: too late\n\n')
    }
    const { until, close } = await opened('GET / HTTP/1.1\r\nhost: a\r\n\r\n', undefined, end)
    const text = await until(events.join(''))
    expect(body(text)).toBe(events.join(''))
    expect(text).toContain(`content-length: ${size}\r\n`)
    expect(text).toContain('content-type: text/event-stream\r\n')
    expect(text).toContain('x-accel-buffering: no\r\n')
    expect(text).toContain('x-own: yes\r\n')
    expect(text).not.toContain('transfer-encoding')
    close()
  },
)

test('every listener is called once when the client disconnects in the middle', async () => {
  const calls: string[] = []
  const server = createServer((request, response) => {
    const handle: HttpHandler['handle'] = (_, reply) => {
      reply.onDisconnect(() => calls.push('one'))
      reply.onDisconnect(() => calls.push('two'))
      if (request.url === '/whole') reply.send(200, {}, 'x')
      else void reply.stream({}).write('data: one\n\n')
    }
    serveNode(
      { handle, drain: async () => {}, close: async () => {} },
      request,
      response,
      nodeHost(),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await (await fetch(`http://127.0.0.1:${port}/whole`)).text()
  expect(calls).toEqual([])
  const client = connect(port, '127.0.0.1').on('data', () => client.destroy())
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(client, 'close')
  while (calls.length < 2) await new Promise(resolve => setImmediate(resolve))
  expect(calls).toEqual(['one', 'two'])
  server.closeAllConnections()
  server.close()
})

test('an HTTP/1.0 client gets the events without chunk sizes', async () => {
  const { events, until, close } = await opened('GET / HTTP/1.0\r\n\r\n')
  void events.write('data: one\n\n')
  await until('one\n\n')
  void events.write('data: two\n\n')
  expect(body(await until('two\n\n'))).toBe('data: one\n\ndata: two\n\n')
  close()
})

test('a middleware that has replaced `write` is not bypassed', async () => {
  const { events, until, close } = await opened('GET / HTTP/1.1\r\nhost: a\r\n\r\n', response => {
    const write = response.write.bind(response)
    response.write = (chunk: unknown) => write(String(chunk).toUpperCase())
  })
  void events.write('data: one\n\n')
  await until('ONE')
  void events.write('data: two\n\n')
  expect(body(await until('TWO'))).toContain('DATA: TWO')
  close()
})

test('a writer continues when a slow client has read the buffer', async () => {
  const { events, until, close } = await opened('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const large = `data: ${'x'.repeat(8_000_000)}\n\n`
  void events.write('data: one\n\n')
  await until('one\n\n')
  const room = events.write(large)
  expect(room).toBeInstanceOf(Promise)
  await room
  void events.write('data: end\n\n')
  await until('data: end')
  close()
})
