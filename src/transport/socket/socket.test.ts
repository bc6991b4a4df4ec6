import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { echo, Owned, type Watched, watch } from '../../../test/support/channel.ts'
import type { Channel, ChannelError } from '../../jsonrpc/channel.ts'
import type { Message } from '../../jsonrpc/message.ts'
import type { Listener } from '../listener.ts'
import {
  type ConnectSocketOptions,
  connectSocket,
  type ListenSocketOptions,
  listenSocket,
  type SocketTarget,
} from './socket.ts'

let folder: string
const owned = new Owned()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tl-'))
})
afterEach(async () => {
  await owned.closeAll()
  rmSync(folder, { recursive: true })
})

async function serve(
  target: SocketTarget = { host: 'localhost', port: 0 },
  options: ListenSocketOptions = {},
  accept: (channel: Channel) => void = echo,
): Promise<Listener> {
  return owned.add(await listenSocket(target, options, accept))
}

/** The target an address names. */
function targetOf({ address }: Listener): SocketTarget {
  if (address.startsWith('unix:')) return { path: address.slice(5) }
  const match = /^tcp:\/\/\[?([^\]]*)\]?:(\d+)$/.exec(address)
  return { host: match?.[1] ?? '', port: Number(match?.[2]) }
}

async function client(target: SocketTarget, options?: ConnectSocketOptions): Promise<Watched> {
  return watch(owned.add(await connectSocket(target, options)))
}

const hello: Message = { type: 'notification', method: 'hello', params: ['wörld'] }

async function rawTo(listener: Listener): Promise<Socket> {
  const socket = connect(targetOf(listener) as { port: number })
  await once(socket, 'connect')
  return socket
}

describe('a TCP listener', () => {
  test('reports the bound port and answers there', async () => {
    const listener = await serve()
    expect(listener.address).toMatch(/^tcp:\/\/127\.0\.0\.1:[1-9]\d*$/)
    const near = await client(targetOf(listener))
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
  })

  test.each([
    ['localhost', 'tcp://127.0.0.1:'],
    ['127.0.0.1', 'tcp://127.0.0.1:'],
    ['::1', 'tcp://[::1]:'],
    ['0.0.0.0', 'tcp://0.0.0.0:'],
  ])('bound to %s has the address %s…', async (host, prefix) => {
    const listener = await serve({ host, port: 0 })
    expect(listener.address.startsWith(prefix)).toBe(true)
    const near = await client(targetOf(listener))
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
  })

  test('refuses a port that is taken, and names it', async () => {
    const listener = await serve()
    await expect(serve(targetOf(listener))).rejects.toMatchObject({
      code: 'refused',
      message: `listening on ${listener.address}: already in use`,
    })
  })

  test('closes connections over the limit at once and reports them', async () => {
    const errors: Error[] = []
    const listener = await serve(undefined, { maxConnections: 1, onError: e => errors.push(e) })
    const first = await client(targetOf(listener))
    const second = await rawTo(listener)
    await once(second.resume(), 'close')
    expect(errors).toMatchObject([{ code: 'too-many' }])
    void first.channel.send(hello)
    expect(await first.next()).toEqual(hello)
  })

  test('accepts again when one of the allowed connections has gone', async () => {
    const listener = await serve(undefined, { maxConnections: 1 })
    const first = await rawTo(listener)
    first.end()
    await once(first.resume(), 'close')
    const second = await client(targetOf(listener))
    void second.channel.send(hello)
    expect(await second.next()).toEqual(hello)
  })

  test('answers a message over the size limit, then closes', async () => {
    const listener = await serve(undefined, { decode: { maxBytes: 100 } })
    const near = await client(targetOf(listener))
    void near.channel.send({ ...hello, params: ['x'.repeat(200)] } as Message)
    expect(await near.next()).toMatchObject({
      type: 'error',
      error: { code: -32012, data: { maxSize: 100, unit: 'bytes' } },
    })
    expect(await near.closed).toBeUndefined()
  })

  test('answers requests that a client sent before it ended its half', async () => {
    const listener = await serve()
    const socket = await rawTo(listener)
    socket.end('{"jsonrpc":"2.0","method":"a"}\n{"jsonrpc":"2.0","method":"b"}\n')
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).toBe('{"jsonrpc":"2.0","method":"a"}\n{"jsonrpc":"2.0","method":"b"}\n')
  })
})

describe('closing a listener', () => {
  test('closes its connections, and can be done twice', async () => {
    const listener = await serve()
    const near = await client(targetOf(listener))
    void near.channel.send(hello)
    await near.next()
    await Promise.all([listener.close(), listener.close()])
    await listener.ended
    expect(await near.closed).toBeUndefined()
    await expect(connectSocket(targetOf(listener))).rejects.toMatchObject({ code: 'refused' })
  })

  test('does not wait for a client that never closes', async () => {
    const listener = await serve()
    const socket = connect({ ...(targetOf(listener) as { port: number }), allowHalfOpen: true })
    await once(socket, 'connect')
    await listener.close()
    socket.destroy()
  })

  test('stopping leaves the connections there are', async () => {
    const listener = await serve()
    const near = await client(targetOf(listener))
    void near.channel.send(hello)
    await near.next()
    listener.stop()
    await expect(connectSocket(targetOf(listener))).rejects.toMatchObject({ code: 'refused' })
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
  })
})

describe('a socket file', () => {
  test('is its owner’s alone and goes with its listener', async () => {
    const path = join(folder, 's')
    const listener = await serve({ path })
    expect(listener.address).toBe(`unix:${path}`)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const near = await client({ path })
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
    await listener.close()
    expect(existsSync(path)).toBe(false)
  })

  test('is never taken from a server that listens', async () => {
    const path = join(folder, 's')
    await serve({ path })
    await expect(serve({ path })).rejects.toMatchObject({
      code: 'refused',
      message: `listening on unix:${path}: already in use`,
    })
    const near = await client({ path })
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
  })

  test('of a dead server is replaced', async () => {
    const path = join(folder, 's')
    await leaveStale(path)
    expect(existsSync(path)).toBe(true)
    await serve({ path })
    const near = await client({ path })
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
  })

  test('is not made in the place of something else', async () => {
    const path = join(folder, 's')
    writeFileSync(path, 'precious')
    await expect(serve({ path })).rejects.toThrow('it exists and is not a socket')
    expect(statSync(path).size).toBe(8)
  })

  test('is not made through a link', async () => {
    const [stale, link] = [join(folder, 'stale'), join(folder, 'link')]
    await leaveStale(stale)
    symlinkSync(stale, link)
    await expect(serve({ path: link })).rejects.toThrow('it exists and is not a socket')
    expect(readlinkSync(link)).toBe(stale)
  })

  test('has a path the system can take', async () => {
    const path = join(folder, 'x'.repeat(108 - folder.length))
    await expect(serve({ path })).rejects.toThrow('the path has 109 bytes, the system allows 107')
  })

  test('that does not exist cannot be connected to', async () => {
    await expect(connectSocket({ path: join(folder, 'none') })).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('no such file'),
    })
  })
})

/** A socket file whose server has closed without removing it, as one that was killed does. */
async function leaveStale(path: string): Promise<void> {
  const dead = createServer().listen(path)
  await once(dead, 'listening')
  const kept = `${path}-kept`
  renameSync(path, kept)
  dead.close()
  await once(dead, 'close')
  renameSync(kept, path)
}

describe('connecting', () => {
  test('is refused in words that name the address', async () => {
    const listener = await serve()
    await listener.close()
    await expect(connectSocket(targetOf(listener))).rejects.toMatchObject({
      name: 'ChannelError',
      code: 'refused',
      message: `connecting to ${listener.address}: nothing listens there`,
    })
  })

  test('gives up after its time', async () => {
    let expire = (): void => {}
    const clock = {
      now: () => 0,
      start: (callback: () => void) => {
        expire = callback
        return { ref() {}, unref() {} }
      },
      stop() {},
    }
    const listener = await serve()
    const connecting = connectSocket(targetOf(listener), { clock })
    expire()
    await expect(connecting).rejects.toMatchObject({
      code: 'timeout',
      message: `connecting to ${listener.address}: no answer`,
    } satisfies Partial<ChannelError>)
  })

  test('can be aborted before and during the attempt', async () => {
    const listener = await serve()
    const reason = new Error('changed my mind')
    const before = connectSocket(targetOf(listener), { signal: AbortSignal.abort(reason) })
    await expect(before).rejects.toBe(reason)
    const controller = new AbortController()
    const during = connectSocket(targetOf(listener), { signal: controller.signal })
    controller.abort(reason)
    await expect(during).rejects.toBe(reason)
  })

  test('is not undone by a signal that comes too late', async () => {
    const listener = await serve()
    const controller = new AbortController()
    const near = await client(targetOf(listener), { signal: controller.signal })
    controller.abort()
    void near.channel.send(hello)
    expect(await near.next()).toEqual(hello)
  })
})
