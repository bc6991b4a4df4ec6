import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest'
import { Owned } from '../test/support/channel.ts'
import { connect } from './connect.ts'
import { RpcError } from './jsonrpc/error.ts'
import type { Peer } from './jsonrpc/peer/peer.ts'
import { listen } from './listen.ts'
import { errors } from './mcp/errors/constructors.ts'
import type { Answers } from './protocol.ts'
import type { Listener } from './transport/listener.ts'
import type { ChildProcess } from './transport/process/child.ts'

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
  test('accepts a table of methods or one handler', async () => {
    const table = await serve({ twice: (n: number) => 2 * n })
    expect(await call(table, 'twice', [21])).toBe(42)
    const handler = await serve(({ method, params }) => ({ method, params }))
    expect(await call(handler, 'anything', [1])).toEqual({ method: 'anything', params: [1] })
  })

  test('binds only the loopback interface unless the address names a host', async () => {
    expect((await serve({})).address).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/)
    expect((await serve({}, 'ws://:0')).address).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/$/)
    expect((await serve({}, 'tcp://0.0.0.0:0')).address).toMatch(/^tcp:\/\/0\.0\.0\.0:\d+$/)
  })

  test('applies its profile', async () => {
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

  test('several connections share the handler and no state', async () => {
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
  ])('rejects %s that is unknown', async (_, answers, address, options) => {
    await expect(serve(answers, address, options)).rejects.toThrow(TypeError)
  })

  test.each<[string, unknown, unknown, object, RegExp]>([
    ['a number that should answer', 5, 'tcp://:0', {}, /handler function.*got 5$/],
    ['nothing that could answer', null, 'tcp://:0', {}, /handler function.*got null$/],
    ['a list that should answer', [() => 1], 'tcp://:0', {}, /handler function.*got an array$/],
    ['a method that is no function', { x: 5 }, 'tcp://:0', {}, /method "x".*\(got 5\)$/],
    ['an address that is no text', {}, 5, {}, /an address must be a string/],
    ['a profile', {}, 'tcp://:0', { profile: 'nope' }, /"nope".*mcp, erlmcp, jsonrpc/],
    ['a name every object knows', {}, 'tcp://:0', { profile: 'toString' }, /"toString"/],
    ['no profile at all', {}, 'tcp://:0', { profile: null }, /profile.*null/],
    ['no connections', {}, 'tcp://:0', { maxConnections: 0 }, /"maxConnections".*≥ 1 \(got 0\)$/],
    ['less than none', {}, 'tcp://:0', { maxConnections: -1 }, /"maxConnections".*\(got -1\)$/],
    ['no number', {}, 'tcp://:0', { drainMs: Number.NaN }, /"drainMs".*\(got NaN\)$/],
    ['a number as text', {}, 'ws://:0', { pingMs: '5' }, /"pingMs".*\(got "5"\)$/],
    [
      'a time no timer takes',
      {},
      'tcp://:0',
      { stallMs: 2 ** 31 },
      /"stallMs".*\(got 2147483648\)$/,
    ],
    [
      'a negative size',
      {},
      'tcp://:0',
      { decode: { maxBytes: -5 } },
      /"decode.maxBytes".*\(got -5\)$/,
    ],
    ['no requests', {}, 'tcp://:0', { peer: { maxInFlight: 0 } }, /"peer.maxInFlight".*\(got 0\)$/],
    ['rules that are none', {}, 'tcp://:0', { decode: 5 }, /"decode"/],
  ])('rejects %s with a message that names it', async (_, answers, address, options, message) => {
    // The check: none; that is what is tested.
    const refused = serve(answers as Answers, address as string, options)
    await expect(refused).rejects.toThrow(TypeError)
    await expect(refused).rejects.toThrow(message)
  })

  test('accepts infinite limits and a queue of length 0', async () => {
    const options = {
      decode: { maxBytes: Number.POSITIVE_INFINITY, maxBatch: undefined },
      peer: { maxQueued: 0, maxId: 1n },
    }
    const listener = await serve({ ping: () => 'pong' }, 'tcp://:0', options)
    expect(await call(listener, 'ping')).toBe('pong')
  })

  test('calls the methods of an object as its methods', async () => {
    interface Counter {
      next(): number
    }
    const counter: Counter & { count(): number } = {
      count: () => 41,
      next() {
        return this.count() + 1
      },
    }
    const narrow: Counter = counter
    expect(await call(await serve(narrow), 'next')).toBe(42)
  })

  test('exposes only the methods of an instance of a class', async () => {
    class Counter {
      #count = 40
      step = 1
      get secret(): never {
        throw new Error('nobody asked for it')
      }
      next(): number {
        this.#count += this.step
        return this.#count
      }
    }
    const listener = await serve(new Counter())
    expect(await call(listener, 'next')).toBe(41)
    expect(await call(listener, 'next')).toBe(42)
    for (const name of ['constructor', 'secret', 'step', 'toString', '__proto__']) {
      await expect(call(listener, name)).rejects.toMatchObject({ code: -32601 })
    }
  })

  test('rejects an instance whose class inherits from another', async () => {
    class Api extends EventEmitter {
      ping(): string {
        return 'pong'
      }
    }
    await expect(serve(new Api())).rejects.toThrow(/instance of Api, which extends another class/)
  })

  test('calls onPeer with each peer before its first message', async () => {
    const peers: Peer[] = []
    const received: unknown[] = []
    const listener = await serve({}, 'tcp://:0', {
      onPeer: (peer: Peer) => {
        peers.push(peer)
        void peer.notify('welcome', [peers.length])
      },
    })
    const methods = { welcome: (...params: unknown[]) => void received.push(params) }
    const first = owned.add(await connect(listener.address, { ...jsonrpc, methods }))
    await expect.poll(() => received).toEqual([[1]])
    owned.add(await connect(listener.address, { ...jsonrpc, methods }))
    await expect.poll(() => received).toEqual([[1], [2]])
    await first.close()
    await peers[0]?.closed
  })

  test('reports an exception of onPeer and continues', async () => {
    const reported: unknown[] = []
    const error = new Error('on purpose')
    const listener = await serve({ ping: () => 'pong' }, 'tcp://:0', {
      onPeer: () => {
        throw error
      },
      onError: (what: unknown) => reported.push(what),
    })
    expect(await call(listener, 'ping')).toBe('pong')
    expect(reported).toEqual([error])
  })

  test('reports exceptions of handlers and refused connections to onError', async () => {
    const reported: unknown[] = []
    const crash = (): void => {
      throw new Error('inside')
    }
    const listener = await serve({ crash }, 'tcp://:0', {
      maxConnections: 1,
      onError: (error: Error, message?: object) => reported.push([error.message, message]),
    })
    const peer = owned.add(await connect(listener.address, jsonrpc))
    await expect(peer.call('crash')).rejects.toMatchObject({ message: 'Internal error' })
    const second = owned.add(await connect(listener.address, jsonrpc))
    await second.closed
    expect(reported).toMatchObject([
      ['inside', { method: 'crash' }],
      [expect.stringContaining('1 are open already'), undefined],
    ])
  })

  test('closing cuts requests that do not complete in time', async () => {
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

  test('closes at the end of an await using block', async () => {
    let address = ''
    {
      await using listener = await listen({}, 'tcp://:0', jsonrpc)
      address = listener.address
    }
    await expect(connect(address, jsonrpc)).rejects.toMatchObject({ code: 'refused' })
  })
})

describe('connecting', () => {
  test('resolves to a peer, as its type says', async () => {
    const listener = await serve({})
    const peer = owned.add(await connect(listener.address, jsonrpc))
    expectTypeOf(peer).toEqualTypeOf<Peer>()
  })

  test('accepts methods for the peer and a timeout for calls', async () => {
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

  test('can be aborted before it starts', async () => {
    const reason = new Error('no')
    const signal = AbortSignal.abort(reason)
    await expect(connect({ command: 'none' }, { ...jsonrpc, signal })).rejects.toBe(reason)
  })

  test('times out on a silent WebSocket server', async () => {
    const silent = createServer(socket => socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    const connecting = connect(`ws://127.0.0.1:${port}`, { ...jsonrpc, handshakeMs: 20 })
    await expect(connecting).rejects.toMatchObject({ code: 'timeout' })
    silent.close()
  })

  test.each<[string, unknown, object, RegExp]>([
    [
      'nothing',
      undefined,
      {},
      /an address, a Server, \{ command \}, \{ url \} or \{ mcpServers \}, got undefined$/,
    ],
    [
      'a number',
      5,
      {},
      /an address, a Server, \{ command \}, \{ url \} or \{ mcpServers \}, got 5$/,
    ],
    ['an object without a command', {}, {}, /connect\(\) expects .*, got/],
    ['an empty command', { command: '' }, {}, /"command".*\(got ""\)$/],
    ['arguments that are one', { command: 'none', args: '-v' }, {}, /"args" of "none"/],
    ['arguments that are no text', { command: 'none', args: [5] }, {}, /"args" of "none"/],
    ['a profile', 'tcp://:1', { profile: 'nope' }, /"nope"/],
    ['a subprotocol', 'ws://:1', { subprotocol: 'a b' }, /"subprotocol".*\(got "a b"\)$/],
    ['an empty subprotocol', 'ws://:1', { subprotocol: '' }, /"subprotocol".*\(got ""\)$/],
    ['a negative time', { command: 'none' }, { endMs: -1 }, /"endMs".*\(got -1\)$/],
    [
      'a method that is no function',
      'tcp://:1',
      { methods: { x: 5 } },
      /method "x" must be a function/,
    ],
  ])('rejects %s with a message that names it', async (_, target, options, message) => {
    // The check: none; that is what is tested.
    const refused = connect(target as string, { ...jsonrpc, ...options })
    await expect(refused).rejects.toThrow(TypeError)
    await expect(refused).rejects.toThrow(message)
  })

  test('passes the started child process to onChild, and its options on', async () => {
    const children: ChildProcess[] = []
    const junk: string[] = []
    const options = {
      ...jsonrpc,
      endMs: 1,
      termMs: 1,
      junkLines: 1,
      stderrBytes: 4,
      onChild: (child: ChildProcess) => void children.push(child),
      onJunk: ({ detail }: { readonly detail: string }) => void junk.push(detail),
    }
    // Stays for the end of its input and for SIGTERM: closing in time shows who said for how long.
    const script = `
      process.on('SIGTERM', () => {})
      setTimeout(() => {}, 60_000)
      process.stderr.write('complaint')
      process.stdout.write('first\\nsecond\\n')
    `
    const target = { command: process.execPath, args: ['--eval', script] }
    const peer = owned.add(await connect(target, options))
    expect(await peer.closed).toMatchObject({
      message: expect.stringContaining('more than 1 lines'),
    })
    expect(junk).toEqual([expect.stringContaining('first')])
    expect(children).toHaveLength(1)
    await expect.poll(() => children[0]?.stderr).toBe('aint')
    await peer.close()
    const pid = Number(children[0]?.pid)
    expect(pid).toBeGreaterThan(0)
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  test('ends the child process if onChild throws', async () => {
    let pid = 0
    const onChild = (child: ChildProcess): void => {
      pid = child.pid
      throw new Error('on purpose')
    }
    const target = { command: process.execPath, args: ['--eval', 'process.stdin.resume()'] }
    await expect(connect(target, { ...jsonrpc, onChild })).rejects.toThrow('on purpose')
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  test('names a program that cannot be started', async () => {
    const target = { command: 'no-such-program-at-all' }
    await expect(connect(target, jsonrpc)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('no-such-program-at-all'),
    })
  })
})
