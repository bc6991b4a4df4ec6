import { expect, it, vi } from 'vitest'
import { beside, type PathHandler } from './beside.ts'
import type { EventStream, HttpHandler, HttpReply, HttpRequest } from './exchange.ts'

function setup(part: PathHandler['handle']) {
  const main: HttpHandler = {
    handle: (_, reply) => reply.send(200, {}, 'main'),
    drain: vi.fn(async () => {}),
    close: vi.fn(async () => {}),
  }
  const stream: EventStream = { write: vi.fn(), end: vi.fn() }
  const sent: (string | undefined)[] = []
  const reply: HttpReply = {
    send: (_status, _headers, body) => void sent.push(body),
    stream: () => stream,
    isFinished: false,
    onDisconnect: () => {},
  }
  const both = beside(main, { handles: ({ path }) => path.startsWith('/console/'), handle: part })
  // The check: neither handler reads another member.
  const ask = (path: string) => both.handle({ path } as HttpRequest, reply)
  return { main, stream, sent, both, ask }
}

it('passes requests for its paths to the part, and all others to the main handler', () => {
  const { ask, sent } = setup((_, reply) => reply.send(200, {}, 'part'))
  ask('/console/')
  ask('/mcp')
  expect(sent).toEqual(['part', 'main'])
})

it.each(['drain', 'close'] as const)('ends the open streams of the part on %s', async how => {
  const { ask, both, main, stream } = setup((_, reply) => void reply.stream({}).write('a'))
  ask('/console/stream')
  expect(stream.write).toHaveBeenCalledWith('a')
  await both[how]({ drainMs: 1 })
  expect(stream.end).toHaveBeenCalledOnce()
  expect(main[how]).toHaveBeenCalledWith({ drainMs: 1 })
})

it('forgets a stream that the part has ended', async () => {
  const { ask, both, stream } = setup((_, reply) => reply.stream({}).end())
  ask('/console/stream')
  await both.drain()
  expect(stream.end).toHaveBeenCalledOnce()
})
