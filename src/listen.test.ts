import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest'
import { Owned } from '../test/support/channel.ts'
import { connect } from './connect.ts'
import { RpcError } from './jsonrpc/error.ts'
import type { Peer } from './jsonrpc/peer.ts'
import { listen } from './listen.ts'
import { errors } from './mcp/errors.ts'
import type { Answers } from './protocol.ts'
import type { Listener } from './transport/listener.ts'

const jsonrpc = { protocol: 'jsonrpc' } as const
const owned = new Owned()
afterEach(() => owned.closeAll())

async function serve(answers: Answers, address = 'tcp://:0', options = {}): Promise<Listener> {
  return owned.add(await listen(answers, address, { ...jsonrpc, ...options }))
}

async function call(listener: Listener, method: string, params?: object): Promise<unknown> {
  const peer = owned.add(await connect(listener.address, jsonrpc))
  return peer.call(method, params)
}

describe('listening', () => {
  test('takes a table of methods or one handler', async () => {
    const table = await serve({ twice: (n: number) => 2 * n })
    expect(await call(table, 'twice', [21])).toBe(42)
    const handler = await serve(({ method, params }) => ({ method, params }))
    expect(await call(handler, 'anything', [1])).toEqual({ method: 'anything', params: [1] })
  })

  test('serves this machine only unless a host is written', async () => {
    expect((await serve({})).address).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/)
    expect((await serve({}, 'ws://:0')).address).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/$/)
    expect((await serve({}, 'tcp://0.0.0.0:0')).address).toMatch(/^tcp:\/\/0\.0\.0\.0:\d+$/)
  })

  test('speaks in the words of its profile', async () => {
    const fail = (): void => {
      throw errors.toolNotFound({ tool: 'x' })
    }
    const odd = (): void => {
      throw new RpcError(-31999, 'odd', { data: 5 })
    }
    const plain = await serve({ fail })
    await expect(call(plain, 'fail')).rejects.toMatchObject({
      code: -32002,
      data: { tool: 'x', kind: 'tool_not_found' },
      category: 'tool',
      severity: 'error',
    })
    const mcp = await serve({ fail }, 'tcp://:0', { profile: 'mcp' })
    await expect(call(mcp, 'fail')).rejects.toMatchObject({ code: -32602, kind: 'tool_not_found' })
    const strict = await serve({ odd }, 'tcp://:0', { profile: 'erlmcp' })
    await expect(call(strict, 'odd')).rejects.toMatchObject({
      code: -32603,
      data: { originalCode: -31999, originalData: 5 },
    })
  })

  test('many connections share the answers and nothing else', async () => {
    const listener = await serve({ add: (a: number, b: number) => a + b })
    const sums = Array.from({ length: 50 }, (_, i) => call(listener, 'add', [i, i]))
    expect(await Promise.all(sums)).toEqual(sums.map((_, i) => 2 * i))
  })

  test.each<[string, Answers, string, object]>([
    ['an address', {}, 'nonsense', {}],
    ['a protocol', {}, 'tcp://:0', { protocol: 'smtp' }],
    ['a framing', {}, 'ws://:0', { framing: 'words' }],
    ['a framing', {}, 'tcp://:0', { framing: 'words' }],
    ['a reserved method name', { 'rpc.x': () => 1 }, 'tcp://:0', {}],
  ])('refuses %s it does not know', async (_, answers, address, options) => {
    await expect(serve(answers, address, options)).rejects.toThrow(TypeError)
  })

  test('tells its owner what handlers threw and which connections were refused', async () => {
    const told: unknown[] = []
    const crash = (): void => {
      throw new Error('inside')
    }
    const listener = await serve({ crash }, 'tcp://:0', {
      maxConnections: 1,
      onError: (error: Error, message?: object) => told.push([error.message, message]),
    })
    const peer = owned.add(await connect(listener.address, jsonrpc))
    await expect(peer.call('crash')).rejects.toMatchObject({ message: 'Internal error' })
    const second = owned.add(await connect(listener.address, jsonrpc))
    await second.closed
    expect(told).toMatchObject([
      ['inside', { method: 'crash' }],
      [expect.stringContaining('was refused: there are 1 already'), undefined],
    ])
  })

  test('closing cuts what is not answered in time', async () => {
    let isRunning = false
    const hang = (): Promise<never> => {
      isRunning = true
      return new Promise(() => {})
    }
    const listener = await serve({ hang }, 'tcp://:0', { drainMs: 10 })
    const peer = owned.add(await connect(listener.address, jsonrpc))
    const outcome = expect(peer.call('hang')).rejects.toMatchObject({
      code: -32000,
      message: 'Shutting down',
    })
    await expect.poll(() => isRunning).toBe(true)
    await Promise.all([listener.close(), outcome])
    await listener.ended
  })

  test('can be left to the end of a block', async () => {
    let address = ''
    {
      await using listener = await listen({}, 'tcp://:0', jsonrpc)
      address = listener.address
    }
    await expect(connect(address, jsonrpc)).rejects.toMatchObject({ code: 'refused' })
  })
})

describe('connecting', () => {
  test('gives a peer, as its type says', async () => {
    const listener = await serve({})
    const peer = owned.add(await connect(listener.address, jsonrpc))
    expectTypeOf(peer).toEqualTypeOf<Peer>()
  })

  test('takes methods for the other side and a time for calls', async () => {
    const listener = await serve(
      {
        ask: (_: object, { back }) => back.call('answer'),
        hang: () => new Promise(() => {}),
      },
      'tcp://:0',
      { drainMs: 0 },
    )
    const options = { ...jsonrpc, timeoutMs: 30, methods: { answer: () => 42 } }
    const peer = owned.add(await connect(listener.address, options))
    expect(await peer.call('ask', {}, { timeoutMs: 0 })).toBe(42)
    await expect(peer.call('hang')).rejects.toMatchObject({ code: 'timeout' })
  })

  test('can be given up before it begins', async () => {
    const reason = new Error('no')
    const signal = AbortSignal.abort(reason)
    await expect(connect({ command: 'none' }, { ...jsonrpc, signal })).rejects.toBe(reason)
  })

  test('gives up a WebSocket server that says nothing', async () => {
    const silent = createServer(socket => socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    const connecting = connect(`ws://127.0.0.1:${port}`, { ...jsonrpc, handshakeMs: 20 })
    await expect(connecting).rejects.toMatchObject({ code: 'timeout' })
    silent.close()
  })

  test('names a program that cannot be started', async () => {
    const target = { command: 'no-such-program-at-all' }
    await expect(connect(target, jsonrpc)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('no-such-program-at-all'),
    })
  })
})
