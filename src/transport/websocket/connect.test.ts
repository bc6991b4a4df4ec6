import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { echo, Owned, type Watched, watch } from '../../../test/support/channel.ts'
import type { Channel, Envelope } from '../../jsonrpc/channel.ts'
import type { Message } from '../../jsonrpc/message.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Clock } from '../../util/time/clock.ts'
import type { Listener } from '../listener.ts'
import { type ConnectWebSocketOptions, connectWebSocket } from './connect.ts'
import { type AcceptWebSocketOptions, acceptWebSockets, listenWebSocket } from './server.ts'

const owned = new Owned()
afterEach(() => owned.closeAll())

async function serve(
  options: AcceptWebSocketOptions = {},
  accept: (channel: Channel) => void = echo,
): Promise<Listener> {
  return owned.add(await listenWebSocket(new URL('ws://localhost:0/rpc'), options, accept))
}

async function client(
  { address }: { address: string },
  options?: ConnectWebSocketOptions,
): Promise<Watched> {
  return watch(owned.add(await connectWebSocket(new URL(address), options)))
}

/** A client that can do what ours does not. */
async function strange({ address }: Listener): Promise<WebSocket> {
  const ws = new WebSocket(address, { perMessageDeflate: false })
  ws.on('error', () => {})
  await once(ws, 'open')
  return ws
}

async function closeCode(ws: WebSocket): Promise<number> {
  const [code] = await once(ws, 'close')
  return code
}

const hello: Message = { type: 'notification', method: 'hello', params: ['wörld'] }
const messageText = (params: string) => `{"jsonrpc":"2.0","method":"a","params":["${params}"]}`

describe('a WebSocket', () => {
  test('carries messages both ways', async () => {
    const listener = await serve()
    expect(listener.address).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/rpc$/)
    const near = await client(listener)
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
  })

  test('carries a message of many pieces, and what follows it in order', async () => {
    const listener = await serve()
    const near = await client(listener, { highWaterBytes: 1, maxOutboundBytes: 1e8 })
    const long: Message = { type: 'notification', method: 'long', params: ['ä'.repeat(2_000_000)] }
    void near.channel.send(long)
    void near.channel.send(hello)
    expect((await near.next()) ?? {}).toHaveProperty(['params', 0, 'length'], 2_000_000)
    expect(await near.next()).toEqual(hello)
  })

  test('does not lose what comes before it is opened', async () => {
    const listener = await serve({}, channel => {
      echo(channel)
      void channel.send(hello)
    })
    const channel = owned.add(await connectWebSocket(new URL(listener.address)))
    await turn()
    expect(await watch(channel).next()).toEqual(hello)
  })

  test('sends what was taken before it closes', async () => {
    const listener = await serve()
    const ws = await strange(listener)
    const far = await client(
      await serve({}, channel => {
        channel.open({ receive: () => {}, closed: () => {} })
        for (let i = 0; i < 100; i++)
          void channel.send({ ...hello, params: [i, 'x'.repeat(10_000)] } as Message)
        void channel.close()
      }),
    )
    for (let i = 0; i < 100; i++)
      expect(await far.next()).toMatchObject({ params: [i, expect.any(String)] })
    expect(await far.closed).toBeUndefined()
    ws.terminate()
  })

  test('refuses to send when closed', async () => {
    const near = await client(await serve())
    await Promise.all([near.channel.close(), near.channel.close()])
    expect(() => near.channel.send(hello)).toThrow(expect.objectContaining({ code: 'closed' }))
    expect(await near.closed).toBeUndefined()
  })

  test('sends nothing of a message that is not JSON', async () => {
    const near = await client(await serve())
    const bad = { ...hello, params: [1n] } as Message
    expect(() => near.channel.send(bad)).toThrow(
      expect.objectContaining({ code: 'unserialisable' }),
    )
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
  })

  test('messages of one tick leave in one write', async () => {
    const listener = await serve({}, channel => {
      channel.open({ receive: () => {}, closed: () => void channel.close() })
      for (let i = 0; i < 10; i++) void channel.send(hello)
      queueMicrotask(() => void channel.send(hello))
    })
    const socket = await handshake(listener)
    let reads = 0
    let bytes = 0
    for await (const chunk of socket) {
      reads++
      bytes += chunk.length
      if (bytes >= 11 * 58) break
    }
    expect(reads).toBe(1)
  })

  test('messages of one turn are sent in one write with flushOnImmediate', async () => {
    const listener = await serve({ flushOnImmediate: true }, channel => {
      channel.open({ receive: () => {}, closed: () => void channel.close() })
      for (let i = 0; i < 10; i++) void channel.send(hello)
      process.nextTick(() => process.nextTick(() => void channel.send(hello)))
    })
    const socket = await handshake(listener)
    const [chunk] = await once(socket, 'data')
    expect(chunk.length).toBeGreaterThanOrEqual(11 * 50)
    socket.destroy()
  })

  describe('between two of ours', () => {
    const joining = { subprotocol: 'mcp', joins: true }
    const numbered = (n: number, words = ''): Message => ({ ...hello, params: [n, words] })

    /** A server that speaks as we do, on a WebSocket that can be looked at. */
    async function joined(listener: Listener): Promise<WebSocket> {
      const ws = new WebSocket(listener.address, ['trunkline-lines', 'mcp'])
      ws.on('error', () => {})
      await once(ws, 'open')
      return ws
    }

    test('carries the messages of one tick as one, and each arrives as itself', async () => {
      const listener = await serve()
      const ws = await joined(listener)
      expect(ws.protocol).toBe('trunkline-lines')
      const replies = once(ws, 'message')
      ws.send(`${messageText('a')}\n${messageText('b')}`)
      const [data] = await replies
      expect(String(data).split('\n')).toEqual([messageText('a'), messageText('b')])
      ws.terminate()
      const near = await client(listener, joining)
      for (let n = 0; n < 100; n++) void near.channel.send(numbered(n))
      for (let n = 0; n < 100; n++) expect(await near.next()).toEqual(numbered(n))
    })

    test('keeps the order of short ones and long ones', async () => {
      const near = await client(await serve(), { ...joining, maxOutboundBytes: 1e8 })
      const lengths = [1, 20_000, 1, 1, 400_000, 1, 9000, 9000]
      for (const [n, length] of lengths.entries()) {
        void near.channel.send(numbered(n, 'x'.repeat(length)))
      }
      for (const [n, length] of lengths.entries()) {
        expect(await near.next()).toEqual(numbered(n, 'x'.repeat(length)))
      }
    })

    test('a line that is no message is answered, and those beside it are taken', async () => {
      const ws = await joined(await serve())
      const replies = once(ws, 'message')
      ws.send(`${messageText('a')}\n{]\n${messageText('b')}`)
      const [first, second, third] = String((await replies)[0]).split('\n')
      expect([first, third]).toEqual([messageText('a'), messageText('b')])
      expect(second).toContain('-32700')
      ws.terminate()
    })

    test('nothing that follows a line is taken once the connection is being closed', async () => {
      const seen: unknown[] = []
      const listener = await serve({}, channel => {
        channel.open({
          receive: arrival => {
            seen.push(arrival)
            void channel.close()
          },
          closed: () => {},
        })
      })
      const ws = await joined(listener)
      ws.send(`${messageText('a')}\n${messageText('b')}`)
      await closeCode(ws)
      expect(seen).toHaveLength(1)
    })

    test('sends what was taken before it closes', async () => {
      const listener = await serve({}, channel => {
        channel.open({ receive: () => {}, closed: () => {} })
        for (let n = 0; n < 10; n++) void channel.send(numbered(n))
        void channel.close()
      })
      const near = await client(listener, joining)
      for (let n = 0; n < 10; n++) expect(await near.next()).toEqual(numbered(n))
      expect(await near.closed).toBeUndefined()
    })

    test('passes over blank lines, and takes those that end with a carriage return', async () => {
      const ws = await joined(await serve())
      const replies = once(ws, 'message')
      ws.send('\n')
      ws.send(`\r\n${messageText('a')}\r\n \t\n\n${messageText('b')}\n`)
      const [data] = await replies
      expect(String(data).split('\n')).toEqual([messageText('a'), messageText('b')])
      ws.terminate()
    })

    test('more of them in one than could be waited for are refused', async () => {
      const seen: unknown[] = []
      const listener = await serve({}, channel => {
        channel.open({ receive: arrival => void seen.push(arrival), closed: () => {} })
      })
      const ws = await joined(listener)
      const message = messageText('a')
      const most = Math.floor((limits.websocketJoinedBytes.default + 1) / (message.length + 1))
      ws.send(Array(most).fill(message).join('\n'))
      ws.send(
        Array(most + 1)
          .fill(message)
          .join('\n'),
      )
      expect(await closeCode(ws)).toBe(1009)
      expect(seen).toHaveLength(most + 1)
      expect(seen.at(-1)).toMatchObject({ reason: 'too-large', error: { code: -32012 } })
    })

    test('a single one may be longer than several', async () => {
      const near = await client(await serve(), joining)
      const long = numbered(1, 'x'.repeat(limits.websocketJoinedBytes.default))
      void near.channel.send(long)
      expect(await near.next()).toEqual(long)
    })

    test('joins nothing where a message may not be as long as those together', async () => {
      const decode = { maxBytes: 9000 }
      const one = await client(await serve({ decode }), joining)
      const two = await client(await serve(), { ...joining, decode })
      for (const { channel, next } of [one, two]) {
        for (let n = 0; n < 4; n++) void channel.send(numbered(n, 'x'.repeat(8000)))
        for (let n = 0; n < 4; n++) expect(await next()).toEqual(numbered(n, 'x'.repeat(8000)))
      }
    })

    test('is not used with other servers', async () => {
      const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
      const texts: string[] = []
      const twice = new Promise<void>(resolve => {
        server.on('connection', ws => {
          ws.on('message', data => {
            if (texts.push(String(data)) === 2) resolve()
          })
        })
      })
      // One that leaves every offer; ws itself takes the first.
      server.options.handleProtocols = () => false
      await once(server, 'listening')
      const { port } = server.address() as { port: number }
      const near = await client({ address: `ws://127.0.0.1:${port}/` }, joining)
      void near.channel.send(numbered(1))
      void near.channel.send(numbered(2))
      await twice
      expect(texts.map(text => JSON.parse(text).params)).toEqual([
        [1, ''],
        [2, ''],
      ])
      await near.channel.close()
      server.close()
    })
  })

  test('sends nothing of a message that is longer than it may be', async () => {
    const near = await client(await serve(), { maxMessageLength: 60 })
    const long: Message = { ...hello, params: ['x'.repeat(60)] }
    expect(() => near.channel.send(long)).toThrow(expect.objectContaining({ code: 'too-large' }))
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
  })

  test('brings the headers of its handshake with what comes over it', async () => {
    const seen = new Promise<Envelope>(resolve => {
      void serve({}, channel => {
        channel.open({ receive: (_, envelope) => resolve(envelope), closed: () => {} })
      }).then(async listener => {
        const near = await client(listener, { headers: { Authorization: 'Bearer x' } })
        void near.channel.send(hello)
      })
    })
    expect((await seen).headers).toMatchObject({ authorization: 'Bearer x', upgrade: 'websocket' })
  })

  test('reading pauses while the sink applies backpressure', async () => {
    let release = (): void => {}
    const seen: unknown[] = []
    const listener = await serve({ decode: { maxBytes: 2e7 } }, channel => {
      channel.open({
        receive: arrival => {
          seen.push(arrival)
          return new Promise<void>(resolve => {
            release = resolve
          })
        },
        closed: () => void channel.close(),
      })
    })
    const near = await client(listener)
    void near.channel.send(hello)
    await expect.poll(() => seen.length).toBe(1)
    // More than the system holds for a reader that does not read.
    const long: Message = { type: 'notification', method: 'x', params: ['x'.repeat(1e7)] }
    const waiting = near.channel.send(long)
    expect(waiting).toBeInstanceOf(Promise)
    expect(seen.length).toBe(1)
    release()
    await waiting
    await expect.poll(() => seen.length).toBe(2)
    release()
  })
})

describe('what is no message', () => {
  test('malformed text is answered and the connection stays', async () => {
    const ws = await strange(await serve())
    ws.send('{"jsonrpc": "2.0", "method')
    expect(JSON.parse(String((await once(ws, 'message'))[0]))).toMatchObject({
      error: { code: -32700 },
    })
    ws.send(messageText('b'))
    expect(String((await once(ws, 'message'))[0])).toBe(messageText('b'))
    ws.terminate()
  })

  test.each([
    ['in one piece', (ws: WebSocket) => ws.send(messageText('x'.repeat(100)))],
    ['announced and never sent', (ws: WebSocket) => ws.send(messageText('x'.repeat(9e6)))],
    [
      'in several pieces',
      (ws: WebSocket) => {
        ws.send(messageText('x'.repeat(50)), { fin: false })
        ws.send('x'.repeat(50))
      },
    ],
  ])('a message over the limit, %s, is answered and closed with 1009', async (_, act) => {
    const ended: (Error | undefined)[] = []
    const listener = await serve({ decode: { maxBytes: 100 } }, channel => {
      const { closed } = watch({ ...spied(channel) })
      void closed.then(cause => ended.push(cause))
    })
    const ws = await strange(listener)
    const code = closeCode(ws)
    const answer = once(ws, 'message')
    act(ws)
    expect(JSON.parse(String((await answer)[0]))).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32012,
        message: 'Message size exceeds maximum allowed',
        data: { maxSize: 100, unit: 'bytes' },
      },
    })
    expect(await code).toBe(1009)
    await expect.poll(() => ended).toMatchObject([{ code: 'too-large' }])
  })

  test('the answer to a message over the limit waits for a long one on its way out', async () => {
    const listener = await serve({ decode: { maxBytes: 100 } }, channel => {
      echo(channel)
      void channel.send({ ...hello, params: ['x'.repeat(5_000_000)] } as Message)
    })
    const ws = await strange(listener)
    const texts: string[] = []
    ws.on('message', data => texts.push(String(data)))
    ws.send(messageText('x'.repeat(100)))
    expect(await closeCode(ws)).toBe(1009)
    expect(texts.map(text => text.length > 5_000_000 || JSON.parse(text).error.code)).toEqual([
      true,
      -32012,
    ])
  })

  test.each<[string, number, (ws: WebSocket) => void]>([
    ['a binary message', 1003, ws => ws.send(Buffer.from(messageText('a')))],
    ['text that is no UTF-8', 1007, ws => ws.send(Buffer.from([0xc3, 0x28]), { binary: false })],
    [
      'a message in too many pieces',
      1008,
      ws => {
        for (let i = 0; i < 5; i++) ws.send('', { fin: false })
      },
    ],
    ['a frame with a reserved bit', 1002, ws => raw(ws, [0xf1, 0x80, 0, 0, 0, 0])],
    ['a frame that is not masked', 1002, ws => raw(ws, [0x81, 0x01, 0x20])],
    ['a compressed frame', 1002, ws => raw(ws, [0xc1, 0x81, 0, 0, 0, 0, 0x20])],
    ['a continuation of nothing', 1002, ws => raw(ws, [0x80, 0x80, 0, 0, 0, 0])],
    ['a ping in pieces', 1002, ws => raw(ws, [0x09, 0x80, 0, 0, 0, 0])],
    ['a length beyond 2^53', 1009, ws => raw(ws, [0x81, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0])],
  ])('%s is closed with %i', async (_, expected, act) => {
    const listener = await serve({ maxFragments: 4 })
    const ws = await strange(listener)
    const code = closeCode(ws)
    act(ws)
    expect(await code).toBe(expected)
    const near = await client(listener)
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
  })

  test('a client that closes with 1009 is not answered', async () => {
    const ended: (Error | undefined)[] = []
    const listener = await serve({}, channel => {
      void watch(channel).closed.then(cause => ended.push(cause))
    })
    const ws = await strange(listener)
    const texts: string[] = []
    ws.on('message', data => texts.push(String(data)))
    ws.close(1009)
    await closeCode(ws)
    await expect.poll(() => ended).toMatchObject([{ code: 'too-large' }])
    expect(texts).toEqual([])
  })
})

describe('a peer', () => {
  test('that leaves in good order gives no cause, one that vanishes gives one', async () => {
    const ended: (Error | undefined)[] = []
    const listener = await serve({}, channel => {
      void watch(channel).closed.then(cause => ended.push(cause))
    })
    const polite = await strange(listener)
    polite.close(1000)
    await expect.poll(() => ended).toEqual([undefined])
    const rude = await strange(listener)
    rude.terminate()
    await expect.poll(() => ended.length).toBe(2)
    expect(ended[1]).toMatchObject({ code: 'closed', message: 'the connection was lost' })
  })

  test('that does not respond to pings is disconnected', async () => {
    const listener = await serve({ pingMs: 10, pongMs: 5 }, channel => {
      channel.open({ receive: () => {}, closed: cause => closed(cause) })
    })
    let closed: (cause?: Error) => void = () => {}
    const end = new Promise<Error | undefined>(resolve => {
      closed = resolve
    })
    const mute = await handshake(listener)
    expect(await end).toMatchObject({ code: 'timeout' })
    mute.destroy()
  })

  test('that answers pings stays', async () => {
    const { clock, expire } = manualClock()
    const listener = await serve({ pingMs: 30, pongMs: 10, clock })
    const near = await client(listener, { pingMs: 0 })
    expire(30)
    // One turn for the ping to be read and answered, one for the answer.
    for (let i = 0; i < 3; i++) await turn()
    expire(10)
    await turn()
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
  })

  test('that is in the middle of a long message stays', async () => {
    const { clock, expire } = manualClock()
    const listener = await serve({ pingMs: 30, pongMs: 10, clock })
    const mute = await handshake(listener)
    const text = Buffer.from(messageText('slow'))
    expire(30)
    mute.write(Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0, text[0] ?? 0]))
    for (let i = 0; i < 3; i++) await turn()
    expire(10)
    await turn()
    mute.write(text.subarray(1))
    await expect.poll(() => String(mute.read())).toContain(messageText('slow'))
    mute.destroy()
  })

  test('that takes nothing is cut when too much waits', async () => {
    const ended: (Error | undefined)[] = []
    const listener = await serve({ maxOutboundBytes: 1e6 }, channel => {
      channel.open({ receive: () => {}, closed: cause => ended.push(cause) })
      const flood = (): void => {
        try {
          for (;;) void channel.send({ ...hello, params: ['x'.repeat(100_000)] } as Message)
        } catch (error) {
          expect(error).toMatchObject({ code: 'too-slow' })
        }
      }
      flood()
    })
    const stopped = await handshake(listener)
    stopped.pause()
    await expect.poll(() => ended).toMatchObject([{ code: 'too-slow' }])
    stopped.destroy()
  })

  test('that never closes does not delay closing', async () => {
    const listener = await serve()
    const mute = await handshake(listener)
    await listener.close()
    mute.destroy()
  })
})

describe('the handshake', () => {
  test.each([
    ['another host', { host: 'evil.test' }, 403],
    ['a host that begins like ours', { host: '127.0.0.1.evil.test' }, 403],
    ['a foreign origin', { origin: 'http://evil.test' }, 403],
    ['the null origin', { origin: 'null' }, 403],
    ['a foreign origin in the way of drafts', { 'sec-websocket-origin': 'http://evil.test' }, 403],
    ['another path', { path: '/other' }, 404],
    ['a longer path', { path: '/rpc/more' }, 404],
    ['no key', { 'sec-websocket-key': 'short' }, 400],
  ])('with %s is refused', async (_, wrong, status) => {
    const errors: Error[] = []
    let accepted = 0
    const listener = await serve({ onError: e => errors.push(e) }, () => accepted++)
    expect(await upgrade(listener.address, wrong)).toBe(status)
    expect(accepted).toBe(0)
    expect(errors.length).toBe(status === 400 ? 0 : 1)
  })

  test('with two hosts is refused', async () => {
    const listener = await serve()
    const { host } = new URL(listener.address)
    const status = await rawUpgrade(listener, `Host: ${host}\r\nHost: ${host}\r\n`)
    expect(status).toBe(403)
  })

  test('with an absolute target is refused', async () => {
    const listener = await serve()
    const { host } = new URL(listener.address)
    expect(await rawUpgrade(listener, `Host: ${host}\r\n`, `http://${host}/rpc`)).toBe(403)
  })

  test.each([
    ['no origin', {}],
    ['an allowed origin', { origin: 'https://app.test' }],
    ['an allowed host', { host: 'api.test' }],
    ['a query', { path: '/rpc?token=1' }],
  ])('with %s is accepted', async (_, right) => {
    const listener = await serve({
      allowedHosts: ['api.test'],
      allowedOrigins: ['https://app.test'],
    })
    expect(await upgrade(listener.address, right)).toBe(101)
  })

  test('over the limit of connections is refused and reported', async () => {
    const errors: Error[] = []
    const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const options = { maxConnections: 1, onError: (error: Error) => errors.push(error) }
    const sockets = acceptWebSockets(server, options, echo)
    const { port } = server.address() as { port: number }
    const address = `ws://127.0.0.1:${port}/`
    const near = await client({ address })
    expect(await upgrade(address, {})).toBe(503)
    expect(errors).toMatchObject([{ code: 'too-many' }])
    expect(sockets.channels.size).toBe(1)
    await near.channel.close()
    await expect.poll(() => sockets.channels.size).toBe(0)
    sockets.stop()
    expect(await upgrade(address, {})).not.toBe(101)
    server.close()
  })

  test('a plain request is answered 426', async () => {
    const listener = await serve()
    const response = await new Promise<IncomingMessage>(resolve => {
      request(listener.address.replace('ws:', 'http:'), resolve).end()
    })
    expect(response.statusCode).toBe(426)
    response.resume()
  })

  test.each([
    [undefined, ''],
    ['mcp', 'mcp'],
    ['other', ''],
  ])('with the subprotocol %s goes through', async (subprotocol, spoken) => {
    const listener = await serve()
    const near = await client(listener, { subprotocol })
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
    expect(await upgradeProtocol(listener, subprotocol)).toBe(spoken)
  })
})

describe('connecting', () => {
  test('is refused in words that name the address but no secrets', async () => {
    const listener = await serve()
    await listener.close()
    const url = new URL(`${listener.address.replace('//', '//me:secret@')}?token=secret`)
    await expect(connectWebSocket(url)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringMatching(/^connecting to ws:\/\/127\.0\.0\.1:\d+\/rpc: .*ECONNREFUSED/),
    })
  })

  test('reports the status of a server that refuses', async () => {
    const listener = await serve()
    await expect(connectWebSocket(new URL(`${listener.address}x`))).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('the server answered 404'),
    })
  })

  test('gives up a silent server', async () => {
    const silent = createServer().on('upgrade', (_, socket) => socket.on('error', () => {}))
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const url = new URL(`ws://127.0.0.1:${(silent.address() as { port: number }).port}/`)
    await expect(connectWebSocket(url, { handshakeMs: 20 })).rejects.toMatchObject({
      code: 'timeout',
    })
    const reason = new Error('enough')
    const controller = new AbortController()
    const connecting = connectWebSocket(url, { signal: controller.signal })
    await once(silent, 'upgrade')
    controller.abort(reason)
    await expect(connecting).rejects.toBe(reason)
    silent.close()
  })

  test('to listen with TLS needs a certificate', async () => {
    const url = new URL('wss://localhost:0/')
    await expect(listenWebSocket(url, {}, echo)).rejects.toThrow('TLS needs a certificate')
  })
})

function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** A clock whose timers are fired by hand, named by their length. */
function manualClock(): { clock: Clock; expire(delayMs: number): void } {
  const timers = new Map<number, () => void>()
  const clock: Clock = {
    now: () => 0,
    start: (callback, delayMs) => {
      timers.set(delayMs, callback)
      return { ref() {}, unref() {} }
    },
    stop: () => {},
  }
  const expire = (delayMs: number): void => (timers.get(delayMs) ?? expect.unreachable())()
  return { clock, expire }
}

/** The channel, answering malformed text as a peer would. */
function spied(channel: Channel): Channel {
  return {
    open: sink =>
      channel.open({
        receive: (arrival, envelope) => {
          if (arrival.type === 'invalid') {
            void channel.send({ type: 'error', id: arrival.id, error: arrival.error })
          }
          return sink.receive(arrival, envelope)
        },
        closed: cause => sink.closed(cause),
      }),
    send: message => channel.send(message),
    close: () => channel.close(),
    [Symbol.asyncDispose]: () => channel.close(),
  }
}

/** Writes bytes below the WebSocket, which would not let them through. */
function raw(ws: WebSocket, bytes: number[]): void {
  const { _socket } = ws as unknown as { _socket: Socket }
  _socket.write(Buffer.from(bytes))
}

const headersOf = (extra: object) => ({
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  ...extra,
})

/** Asks for an upgrade and returns the status of the answer. */
function upgrade(address: string, parts: { path?: string; [header: string]: string | undefined }) {
  const url = new URL(address)
  const { path = url.pathname, ...headers } = parts
  return new Promise<number | undefined>((resolve, reject) => {
    request({ host: url.hostname, port: url.port, path, headers: headersOf(headers) })
      .on('upgrade', (response, socket) => {
        socket.destroy()
        resolve(response.statusCode)
      })
      .on('response', response => {
        response.resume()
        resolve(response.statusCode)
      })
      .on('error', reject)
      .end()
  })
}

async function upgradeProtocol({ address }: Listener, offer: string | undefined): Promise<string> {
  const url = new URL(address)
  const extra = offer === undefined ? {} : { 'sec-websocket-protocol': offer }
  return new Promise(resolve => {
    request({ host: url.hostname, port: url.port, path: url.pathname, headers: headersOf(extra) })
      .on('upgrade', (response, socket) => {
        socket.destroy()
        resolve(response.headers['sec-websocket-protocol'] ?? '')
      })
      .end()
  })
}

/** Asks in a way no client library would; returns the status of the answer. */
async function rawUpgrade(listener: Listener, hosts: string, target = '/rpc'): Promise<number> {
  const socket = await plain(listener)
  const rest = Object.entries(headersOf({})).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET ${target} HTTP/1.1\r\n${hosts}${rest.join('')}\r\n`)
  const [answer] = await once(socket, 'data')
  socket.destroy()
  return Number(String(answer).split(' ')[1])
}

/** A connection after its handshake, whose peer does not speak the protocol. */
async function handshake(listener: Listener): Promise<Socket> {
  const { host } = new URL(listener.address)
  const socket = await plain(listener)
  const lines = Object.entries(headersOf({ host })).map(([name, value]) => `${name}: ${value}`)
  socket.write(`GET /rpc HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  await once(socket, 'readable')
  const answer = String(socket.read())
  const end = answer.indexOf('\r\n\r\n') + 4
  const rest = Buffer.from(answer.slice(end))
  if (rest.length > 0) socket.unshift(rest)
  return socket
}

async function plain({ address }: Listener): Promise<Socket> {
  const { hostname, port } = new URL(address)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

test('a client rests from the flood of a server, so that others are served', async () => {
  const servers = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  const accepted = once(servers, 'connection')
  await once(servers, 'listening')
  const { port } = servers.address() as AddressInfo
  const channel = owned.add(await connectWebSocket(new URL(`ws://127.0.0.1:${port}/`)))
  const [far] = await accepted
  const text = messageText('x'.repeat(1000))
  for (let i = 0; i < 400; i++) far.send(text)
  await expect.poll(() => far.bufferedAmount).toBe(0)
  const perTurn: number[] = [0]
  let count = 0
  const countTurn = (): void => {
    perTurn.push(0)
    if (count < 400) setImmediate(countTurn)
  }
  channel.open({
    receive: () => {
      count++
      perTurn[perTurn.length - 1] = (perTurn.at(-1) ?? 0) + 1
    },
    closed: () => {},
  })
  setImmediate(countTurn)
  await expect.poll(() => count).toBe(400)
  // 64 KiB per turn, and what was read in the same chunk.
  expect(Math.max(...perTurn)).toBeLessThan(200)
  far.terminate()
  servers.close()
})
