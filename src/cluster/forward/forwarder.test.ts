import { describe, expect, test } from 'vitest'
import type { HttpReply, HttpRequest } from '../../http/exchange.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { LinkError } from '../link/link-error.ts'
import type { StreamReceiver } from '../link/link-stream.ts'
import { notOwner } from './accept.ts'
import { Forwarder } from './forwarder.ts'
import { places, type SessionPlace } from './session-place.ts'

const at = (node: string): SessionPlace => ({ at: 'node', node, address: `tcp://${node}` })
const bytes = (text: string) => new TextEncoder().encode(text)
const { default: waitMs } = limits.forwardWaitMs

/** A stream that was opened to another node. */
interface Opened {
  readonly node: string
  readonly head: { readonly method: string; readonly headers: Record<string, string> }
  readonly body: string
  readonly receiver: StreamReceiver
}

/** A forwarder with one request, whose session is where `place.now` says. */
function forward(method: string, body?: unknown) {
  const clock = fakeClock()
  const opened: Opened[] = []
  const place = { now: at('a') }
  const suspects: string[] = []
  const drained = new Set<string>()
  const client = { status: 0, text: '', hasEnded: false, settled: 0 }
  const forwarder = new Forwarder({
    clock,
    serveHere: () => {},
    sessions: {
      find: () => place.now,
      wasNotAt: () => {},
      suspect: node => suspects.push(node),
      hasDrained: node => drained.has(node),
    },
    links: {
      open: ({ node }, head, receiver) => {
        const stream = { node, head: JSON.parse(head), body: '', receiver }
        opened.push(stream)
        return {
          sendHead: () => {},
          send: data => {
            stream.body += new TextDecoder().decode(data)
          },
          end: () => {},
          reset: () => {},
        }
      },
    },
  })
  const write = (text: string): void => {
    client.text += text
  }
  const end = (): void => {
    client.hasEnded = true
  }
  const reply: HttpReply = {
    get isFinished() {
      return client.hasEnded
    },
    send: (status, _headers, text = '') => {
      client.status = status
      write(text)
      end()
    },
    stream: () => {
      client.status = 200
      return { write, end }
    },
    onDisconnect: () => {},
  }
  // The check: a forwarder reads these members of a request, and no other.
  const request = {
    method,
    path: '/mcp',
    query: '',
    headers: {},
    address: () => undefined,
  } as unknown as HttpRequest
  forwarder.serve('session', {
    request,
    reply,
    body: body === undefined ? undefined : bytes(JSON.stringify(body)),
    onSettled: () => {
      client.settled++
    },
  })
  const last = (): Opened => {
    const stream = opened.at(-1)
    if (stream === undefined) throw new Error('nothing was forwarded')
    return stream
  }
  const respond = (isStream: boolean, text: string): void => {
    last().receiver.head?.(JSON.stringify({ status: 200, headers: {}, isStream }))
    void last().receiver.data(bytes(text))
  }
  const lose = (code: 'lost' | 'refused' = 'lost'): void =>
    last().receiver.failed(new LinkError(code, 'the link ended'))
  return { clock, opened, place, suspects, drained, client, last, respond, lose }
}

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } }
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

describe('Forwarder', () => {
  test('copies a response', () => {
    const { last, respond, client } = forward('POST', call)
    expect(last()).toMatchObject({ node: 'a', body: JSON.stringify(call) })
    respond(false, '{"result":1}')
    last().receiver.end()
    expect(client).toMatchObject({ status: 200, text: '{"result":1}', settled: 1 })
  })

  test('continues a stream at the successor, for however long it was open', () => {
    const { clock, place, last, respond, lose, client, suspects } = forward('GET')
    respond(true, 'id: 1\ndata: one\n\nid: 2\ndata: cut o')
    clock.advance(waitMs * 10)
    place.now = places.unknown
    lose()
    expect(suspects).toEqual(['a'])
    clock.advance(waitMs / 2)
    place.now = at('b')
    clock.advance(limits.forwardRetryMs.default)
    expect(last()).toMatchObject({ node: 'b', head: { headers: { 'last-event-id': '1' } } })
    respond(true, 'id: 2\ndata: two\n\n')
    expect(client).toMatchObject({
      text: 'id: 1\ndata: one\n\nid: 2\ndata: two\n\n',
      hasEnded: false,
    })
    last().receiver.end()
    expect(client).toMatchObject({ hasEnded: true, settled: 1 })
  })

  test('ends a stream that nobody continues within forwardWaitMs', () => {
    const { clock, place, respond, lose, client } = forward('GET')
    respond(true, 'id: 1\ndata: one\n\n')
    place.now = places.unknown
    lose()
    clock.advance(waitMs - 1)
    expect(client.hasEnded).toBe(false)
    clock.advance(limits.forwardRetryMs.default)
    expect(client).toMatchObject({ hasEnded: true, settled: 1 })
  })

  test('a request without an owner gets 503 after forwardWaitMs', () => {
    const { clock, place, lose, client } = forward('POST', list)
    place.now = places.unknown
    lose('refused')
    clock.advance(waitMs + limits.forwardRetryMs.default)
    expect(client).toMatchObject({ status: 503, settled: 1 })
  })

  test('repeats what only reads when its node was lost', () => {
    const { clock, place, last, lose } = forward('POST', list)
    place.now = at('b')
    lose()
    clock.advance(limits.forwardRetryMs.default)
    expect(last()).toMatchObject({ node: 'b', body: JSON.stringify(list) })
  })

  test('does not repeat a call that its node may have executed', () => {
    const { clock, opened, lose, client } = forward('POST', call)
    lose()
    clock.advance(waitMs)
    expect(opened).toHaveLength(1)
    expect(JSON.parse(client.text)).toMatchObject({ error: { data: { outcome: 'unknown' } } })
  })

  test.each(['refused', 'drained', 'not the owner'])(
    'repeats a call that was not executed: %s',
    reason => {
      const { clock, place, drained, last, lose } = forward('POST', call)
      place.now = at('b')
      if (reason === 'drained') drained.add('a')
      if (reason === 'not the owner') last().receiver.failed(new LinkError('reset', notOwner))
      else lose(reason === 'refused' ? 'refused' : 'lost')
      clock.advance(limits.forwardRetryMs.default)
      expect(last()).toMatchObject({ node: 'b', body: JSON.stringify(call) })
    },
  )
})
