import { describe, expect, test } from 'vitest'
import {
  DrivenChannel,
  type ReceivedRequest,
  reply,
  stateless,
} from '../../../test/support/fake-fetch.ts'
import { pollOptions } from '../../../test/support/poll-options.ts'
import { type Channel, ChannelError, type Sink } from '../../jsonrpc/channel.ts'
import { encode } from '../../jsonrpc/codec/encode.ts'
import { type Decoded, isList, type Message, type RpcRequest } from '../../jsonrpc/message.ts'
import { BUSY, SHUTTING_DOWN } from '../../jsonrpc/peer/standard-errors.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import type { HttpClientOptions } from './options.ts'
import { httpWithWebSocket, type WebSocketDial } from './websocket.ts'

describe('a client that asks for WebSockets', () => {
  test('asks with server/discover and nothing else', async () => {
    const on = new On({ offers: false })
    await on.discover()
    on.driven.request(2, 'tools/call', stateless)
    await on.driven.ended(2)
    const received = on.driven.received.map(({ headers }) => headers.get('trunkline-wire'))
    expect(received).toEqual(['websocket', null])
    expect(on.dialled).toEqual([])
  })

  test('opens one at the same place with the same headers, and calls over it', async () => {
    const on = new On({ headers: async () => ({ authorization: 'Bearer x' }) })
    await on.open()
    expect(on.dialled).toMatchObject([
      { url: 'ws://localhost:1/mcp', headers: { authorization: 'Bearer x' } },
    ])
    on.driven.request(2, 'tools/call', { name: 'a', ...stateless })
    expect(on.socket.sent).toMatchObject([{ id: 2, method: 'tools/call', params: { name: 'a' } }])
    on.socket.arrives({ type: 'result', id: 2, result: { ok: 1 } })
    expect(on.driven.arrivals.at(-1)?.arrival).toEqual({ type: 'result', id: 2, result: { ok: 1 } })
    expect(on.methods()).toEqual(['server/discover'])
    expect(on.changes).toEqual([true])
  })

  test.each<[string, Message | Message[]]>([
    ['what asks for the offer', request('server/discover')],
    ['what goes on for long', request('subscriptions/listen')],
    ['what the client over HTTP learns from', request('tools/list')],
    ['what is to be logged', request('tools/call', { [metaKeys.logLevel]: 'info' })],
    ['what belongs to a session', { type: 'request', id: 2, method: 'tools/call' }],
    [
      'what is too long',
      request('tools/call', { x: 'y'.repeat(limits.websocketCallLength.default) }),
    ],
    ['a notification', { type: 'notification', method: 'notifications/x', params: stateless }],
    ['a batch', [request('tools/call')]],
  ])('sends %s over HTTP', async (_, message) => {
    const on = new On()
    await on.open()
    void on.driven.channel.send(message)
    expect(on.socket.sent).toEqual([])
    await on.driven.until(({ received }) => received.length === 2)
  })

  test('sends over HTTP what exceeds the limits of the WebSocket', async () => {
    const on = new On()
    await on.open()
    const max = limits.websocketCalls.default
    for (let id = 1; id <= max + 1; id++) on.driven.request(id, 'tools/call', stateless)
    expect(on.socket.sent).toHaveLength(max)
    await on.driven.until(({ received }) => received.length === 2)
    on.socket.arrives({ type: 'result', id: 1, result: {} })
    on.driven.request(max + 2, 'tools/call', stateless)
    expect(on.socket.sent).toHaveLength(max + 1)
  })

  test('stays with HTTP where none can be opened, and tries again later', async () => {
    const on = new On({ refuses: true })
    await on.discover()
    await on.call(2)
    on.clock.advance(limits.websocketRetryMs.default - 1)
    await on.call(3)
    expect(on.dialled).toHaveLength(1)
    on.clock.advance(1)
    await on.call(4)
    expect(on.dialled).toHaveLength(2)
    // The interval doubles with each failure.
    on.clock.advance(limits.websocketRetryMs.default * 2 - 1)
    await on.call(5)
    expect(on.dialled).toHaveLength(2)
    on.clock.advance(1)
    await on.call(6)
    expect(on.dialled).toHaveLength(3)
    for (let id = 7; id < 20; id++) {
      on.clock.advance(limits.websocketRetryMs.default * 64)
      await on.call(id)
    }
    expect(on.dialled).toHaveLength(16)
    expect(on.methods()).toEqual(['server/discover', ...Array(18).fill('tools/call')])
    expect(on.changes).toEqual([])
  })

  test('keeps the one it has, and opens no other, where the server does not accept them any more', async () => {
    const on = new On()
    await on.open()
    on.offers = false
    await on.discover(2)
    on.driven.request(3, 'tools/call', stateless)
    expect(on.socket.sent).toHaveLength(1)
    on.socket.sink?.closed()
    on.clock.advance(limits.websocketRetryMs.default)
    await on.call(4)
    expect(on.dialled).toHaveLength(1)
  })
})

describe('a WebSocket beside HTTP', () => {
  test('that is lost fails its calls and no others, and is reopened', async () => {
    const on = new On()
    await on.open()
    on.driven.request(2, 'tools/call', stateless)
    const cause = new ChannelError('closed', 'the connection was lost')
    on.socket.sink?.closed(cause)
    expect(on.driven.failures).toMatchObject([{ id: 2, error: { code: 'outcome-unknown', cause } }])
    await on.call(3)
    expect(on.methods()).toEqual(['server/discover', 'tools/call'])
    on.clock.advance(limits.websocketRetryMs.default)
    await on.call(4)
    await expect.poll(() => on.sockets.length, pollOptions).toBe(2)
    await expect.poll(() => on.changes, pollOptions).toEqual([true, false, true])
    on.driven.request(5, 'tools/call', stateless)
    expect(on.socket.sent).toMatchObject([{ id: 5 }])
    expect(on.driven.closed).toBeUndefined()
  })

  test('that the server closes without beginning a call fails the call as unsent', async () => {
    const on = new On()
    await on.open()
    on.driven.request(2, 'tools/call', stateless)
    on.socket.sink?.closed(undefined, true)
    expect(on.driven.failures).toMatchObject([{ id: 2, error: { code: 'closed' } }])
  })

  test('that has worked before it was lost is reopened at once', async () => {
    const on = new On()
    await on.open()
    on.driven.request(2, 'tools/call', stateless)
    on.socket.arrives({ type: 'result', id: 2, result: {} })
    on.socket.sink?.closed()
    await on.call(3)
    await expect.poll(() => on.changes, pollOptions).toEqual([true, false, true])
  })

  test('that closes because of the size of a message is not reopened', async () => {
    const on = new On()
    await on.open()
    on.socket.sink?.closed(new ChannelError('too-large', 'over 10 bytes'))
    on.clock.advance(limits.websocketRetryMs.default)
    await on.discover(2)
    await on.call(3)
    expect(on.dialled).toHaveLength(1)
  })

  test('gets no more calls once the server is closing, while those in flight are answered', async () => {
    const on = new On()
    await on.open()
    on.driven.request(2, 'tools/call', stateless)
    on.driven.request(3, 'tools/call', stateless)
    on.socket.arrives({ type: 'error', id: 3, error: SHUTTING_DOWN })
    expect(on.driven.failures).toMatchObject([{ id: 3, error: { code: 'closed' } }])
    await on.call(4)
    on.socket.arrives({ type: 'result', id: 2, result: {} })
    expect(on.driven.arrivals.at(-1)?.arrival).toMatchObject({ id: 2 })
    expect(on.methods()).toEqual(['server/discover', 'tools/call'])
    expect(on.changes).toEqual([true, false])
  })

  test('whose server is busy rejects the call and stays open', async () => {
    const on = new On()
    await on.open()
    on.driven.request(2, 'tools/call', stateless)
    on.socket.arrives({ type: 'error', id: 2, error: BUSY })
    expect(on.driven.failures).toMatchObject([{ id: 2, error: { code: 'refused' } }])
    on.driven.request(3, 'tools/call', stateless)
    expect(on.socket.sent).toHaveLength(2)
  })

  test('gets the cancellation of a call, and its late reply is dropped', async () => {
    const on = new On()
    await on.open()
    on.driven.request(2, 'tools/call', stateless)
    on.driven.channel.abandon?.(2)
    expect(on.socket.sent[1]).toEqual({
      type: 'notification',
      method: 'notifications/cancelled',
      params: { requestId: 2 },
    })
    expect(on.driven.failures).toMatchObject([{ id: 2, error: { code: 'outcome-unknown' } }])
    const before = on.driven.arrivals.length
    on.socket.arrives({ type: 'result', id: 2, result: {} })
    expect(on.driven.arrivals).toHaveLength(before)
  })

  test('delivers notifications and errors, and reports unusable messages', async () => {
    const on = new On()
    await on.open()
    on.driven.request(2, 'tools/call', stateless)
    const progress: Message = { type: 'notification', method: 'notifications/progress' }
    const failure: Message = { type: 'error', id: 2, error: { code: -32602, message: 'no' } }
    const none: Message = { type: 'error', id: null, error: { code: -32700, message: 'what?' } }
    on.socket.arrives({ type: 'batch', entries: [progress, failure] })
    expect(on.driven.arrivals.slice(1).map(({ arrival }) => arrival)).toEqual([progress, failure])
    on.socket.arrives(none)
    on.socket.arrives({ type: 'request', id: 1, method: 'ping' })
    expect(on.driven.errors).toMatchObject([
      { message: expect.stringContaining('what?') },
      { message: expect.stringContaining('a request, ping') },
    ])
  })

  test('is used even if its callback throws', async () => {
    const on = new On()
    on.changes.push = () => {
      throw new Error('of the user')
    }
    await on.discover()
    await on.driven.until(({ errors }) => errors.length === 1)
    expect(on.driven.errors).toMatchObject([{ message: 'of the user' }])
    on.driven.request(2, 'tools/call', stateless)
    expect(on.socket.sent).toHaveLength(1)
  })

  test('makes senders wait, and releases them when it closes', async () => {
    const on = new On()
    await on.open()
    on.socket.room = Promise.reject(new ChannelError('closed', 'gone'))
    await expect(on.driven.channel.send(request('tools/call'))).resolves.toBeUndefined()
  })

  test('is closed with the channel, and its calls fail with the channel', async () => {
    const on = new On()
    await on.open()
    on.driven.request(2, 'tools/call', stateless)
    await on.driven.channel.close()
    expect(on.socket.isClosed).toBe(true)
    expect(on.driven.closed).toEqual({ cause: undefined })
    expect(on.driven.failures).toEqual([])
    expect(on.changes).toEqual([true, false])
  })

  test('that opens after the channel was closed is closed', async () => {
    const on = new On({ isSlow: true })
    await on.discover()
    await expect.poll(() => on.dialled.length, pollOptions).toBe(1)
    await on.driven.channel.close()
    expect(on.dialled[0]?.signal.aborted).toBe(true)
    on.arrive()
    await expect.poll(() => on.sockets[0]?.isClosed, pollOptions).toBe(true)
    expect(on.changes).toEqual([])
  })
})

function request(method: string, meta: object = {}): RpcRequest {
  const { _meta } = stateless
  return { type: 'request', id: 2, method, params: { _meta: { ..._meta, ...meta } } }
}

interface OnOptions extends Pick<HttpClientOptions, 'headers'> {
  readonly offers?: boolean
  readonly refuses?: boolean
  readonly isSlow?: boolean
}

/**
 * A channel to a server that answers everything over HTTP, and nothing over WebSockets unless the test
 * does.
 */
class On {
  readonly clock = fakeClock()
  readonly dialled: (Omit<WebSocketDial, 'maxMessageLength'> & { readonly url: string })[] = []
  readonly sockets: FakeSocket[] = []
  readonly changes: boolean[] = []
  readonly driven: DrivenChannel
  offers: boolean
  arrive: () => void = () => {}

  constructor({ offers = true, refuses = false, isSlow = false, headers }: OnOptions = {}) {
    this.offers = offers
    this.driven = new DrivenChannel(
      received => this.#response(received),
      { headers, clock: this.clock },
      (url, options) =>
        httpWithWebSocket(url, options, {
          dial: async (place, dialer) => {
            this.dialled.push({ ...dialer, url: place.href })
            if (refuses) throw new ChannelError('refused', 'the server answered 404')
            if (isSlow) await new Promise<void>(resolve => (this.arrive = resolve))
            const socket = new FakeSocket(dialer.maxMessageLength)
            this.sockets.push(socket)
            return socket
          },
          onChange: isOpen => void this.changes.push(isOpen),
        }),
    )
  }

  /** The WebSocket opened last. */
  get socket(): FakeSocket {
    return this.sockets.at(-1) ?? expect.unreachable('there is none')
  }

  async discover(count = 1): Promise<void> {
    this.driven.request(`discover-${count}`, 'server/discover', stateless)
    await this.driven.until(({ arrivals }) =>
      arrivals.some(({ arrival }) => 'id' in arrival && arrival.id === `discover-${count}`),
    )
  }

  async open(): Promise<void> {
    await this.discover()
    await expect.poll(() => this.changes, pollOptions).toEqual([true])
  }

  /** Makes a call that is answered over HTTP. */
  async call(id: number): Promise<void> {
    this.driven.request(id, 'tools/call', stateless)
    await this.driven.until(({ arrivals }) =>
      arrivals.some(({ arrival }) => 'id' in arrival && arrival.id === id),
    )
  }

  /** The methods requested over HTTP. */
  methods(): readonly string[] {
    return this.driven.received.map(({ body }) => body.method)
  }

  #response(received: ReceivedRequest): Response {
    const offer = { 'trunkline-wire': 'websocket' }
    return reply(
      received,
      {},
      this.offers && received.body.method === 'server/discover' ? offer : {},
    )
  }
}

class FakeSocket implements Channel {
  readonly sent: Message[] = []
  sink: Sink | undefined
  room: Promise<void> | undefined
  isClosed = false
  readonly #maxMessageLength: number

  constructor(maxMessageLength: number) {
    this.#maxMessageLength = maxMessageLength
  }

  open(sink: Sink): void {
    this.sink = sink
  }

  send(message: Message | readonly Message[]): void | Promise<void> {
    if (isList(message)) throw new Error('no batches')
    if (encode(message).length > this.#maxMessageLength)
      throw new ChannelError('too-large', 'too long')
    this.sent.push(message)
    return this.room
  }

  /** Delivers a message from the server. */
  arrives(arrival: Decoded): void {
    void this.sink?.receive(arrival, {})
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    this.sink?.closed()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
