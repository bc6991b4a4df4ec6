import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { serveNode } from './node.ts'
import type { EventStream, HttpHandler } from './transfer.ts'

interface Opened {
  readonly events: EventStream
  /** Everything the client gets, up to these words. */
  until(words: string): Promise<string>
  close(): void
}

/** Sends this request to a server that answers by an event stream, and gives both ends of it. */
async function opened(asks: string, prepare = (_: ServerResponse) => {}): Promise<Opened> {
  const streams: EventStream[] = []
  const service: HttpHandler = {
    handle: (_, reply) => streams.push(reply.stream({})),
    close: async () => {},
  }
  const server = createServer((request, response) => {
    prepare(response)
    serveNode(service, request, response)
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

test('a client of HTTP/1.0 gets the events and nothing around them', async () => {
  const { events, until, close } = await opened('GET / HTTP/1.0\r\n\r\n')
  void events.write('data: one\n\n')
  await until('one\n\n')
  void events.write('data: two\n\n')
  expect(body(await until('two\n\n'))).toBe('data: one\n\ndata: two\n\n')
  close()
})

test('whoever has replaced the writing of a response is not passed by', async () => {
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

test('a writer goes on when a slow reader has taken what waited', async () => {
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
