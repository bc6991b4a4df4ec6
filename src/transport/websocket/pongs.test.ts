import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { Owned, watch } from '../../../test/support/channel.ts'
import type { ChannelError } from '../../jsonrpc/channel.ts'
import type { Message } from '../../jsonrpc/message.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { connectWebSocket } from './connect.ts'
import { Pongs } from './pongs.ts'
import { listenWebSocket } from './server.ts'
import type { WebSocket } from './ws.ts'

const owned = new Owned()
afterEach(() => owned.closeAll())

function setup() {
  const sent: string[] = []
  const taken: ((error?: Error | null) => void)[] = []
  const errors: ChannelError[] = []
  const clock = fakeClock()
  const ws = {
    pong: (data: Buffer, _: undefined, done: (error?: Error | null) => void) => {
      sent.push(data.toString())
      taken.push(done)
    },
  } as unknown as WebSocket
  const owner = { accepted: () => {}, tooSlow: (error: ChannelError) => void errors.push(error) }
  const pongs = new Pongs(ws, owner, { stallMs: 100, clock })
  const ping = (...texts: string[]): void => {
    for (const text of texts) pongs.answer(Buffer.from(text))
  }
  return { pongs, ping, sent, taken, errors, clock }
}

describe('pings', () => {
  test('are answered each as long as the pongs leave', () => {
    const { ping, sent, taken } = setup()
    ping('a')
    taken.shift()?.()
    ping('b')
    expect(sent).toEqual(['a', 'b'])
  })

  test('that come while a pong is unsent are answered by one pong, to the latest', () => {
    const { ping, sent, taken, clock } = setup()
    ping('a', 'b', 'c', 'd')
    expect(sent).toEqual(['a'])
    taken.shift()?.()
    expect(sent).toEqual(['a', 'd'])
    taken.shift()?.()
    expect([sent, clock.pending]).toEqual([['a', 'd'], 0])
  })

  test('of a peer that accepts nothing for the stall time close the connection', () => {
    const { ping, errors, clock } = setup()
    ping('a', 'b')
    clock.advance(99)
    ping('c')
    expect(errors).toEqual([])
    clock.advance(1)
    expect(errors).toMatchObject([{ code: 'too-slow' }])
  })

  test('are not answered after the end', () => {
    const { pongs, ping, sent, clock } = setup()
    ping('a', 'b')
    pongs.close()
    ping('c')
    expect([sent, clock.pending]).toEqual([['a'], 0])
  })
})

describe('a peer that sends pings and reads nothing', () => {
  const options = { stallMs: 50, highWaterBytes: 1e9 }
  const long: Message = { type: 'notification', method: 'long', params: ['x'.repeat(2e7)] }

  test('is disconnected by a server', async () => {
    const causes: (Error | undefined)[] = []
    const listener = await listenWebSocket(new URL('ws://localhost:0/'), options, channel => {
      void watch(channel).closed.then(cause => causes.push(cause))
      void channel.send(long)
    })
    owned.add(listener)
    const { host, port } = new URL(listener.address)
    const socket = connect(Number(port), '127.0.0.1')
    const key = Buffer.alloc(16).toString('base64')
    const fields = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}`
    socket.pause()
    socket.write(
      `GET / HTTP/1.1\r\nHost: ${host}\r\n${fields}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    )
    keepPinging(socket, masked)
    await expect.poll(() => causes).toMatchObject([{ code: 'too-slow' }])
    socket.destroy()
  })

  test('is disconnected by a client', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    owned.add({ [Symbol.asyncDispose]: async () => void server.close() })
    await once(server, 'listening')
    server.on('connection', (_, { socket }) => {
      socket.pause()
      keepPinging(socket, unmasked)
    })
    const { port } = server.address() as AddressInfo
    const channel = await connectWebSocket(new URL(`ws://127.0.0.1:${port}/`), options)
    void channel.send(long)
    expect(await watch(owned.add(channel)).closed).toMatchObject({ code: 'too-slow' })
  })
})

/** Sends pings until the peer closes the connection. */
function keepPinging(socket: Socket, frame: readonly number[]): void {
  const timer = setInterval(() => socket.write(Buffer.from(frame)), 5)
  socket.on('error', () => clearInterval(timer)).on('close', () => clearInterval(timer))
}

const masked = [0x89, 0x81, 0, 0, 0, 0, 1]
const unmasked = [0x89, 1, 1]
