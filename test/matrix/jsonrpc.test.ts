import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import type { Method } from '../../src/jsonrpc/handler.ts'
import { cuts } from '../judges/raw.ts'
import { type Served, type ServeOptions, type Wire, wires } from './wires.ts'

let served: Served | undefined

afterEach(async () => {
  await served?.end()
  served = undefined
})

async function serve(
  wire: Wire,
  options?: ServeOptions,
  more?: Record<string, Method>,
): Promise<Served> {
  served = await wire.serve(options, more)
  return served
}

const able = (...what: Wire['can']) =>
  wires.filter(({ can }) => what.every(one => can.includes(one)))
const request = (id: number, method: string, params: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const result = (id: number, value: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result: value })
const failure = (id: number | null, code: number, message: string, data?: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } })

describe.each(wires)('over $name', wire => {
  test('calls by position and by name are answered', async () => {
    const peer = await (await serve(wire)).connect()
    expect(await peer.call('sum', [1, 2, 4])).toBe(7)
    expect(await peer.call('subtract', { minuend: 42, subtrahend: 23 })).toBe(19)
    expect(await peer.call('nothing')).toBeNull()
    const value = { text: 'ä\n\u2028😀', deep: [[[{}]]], none: null, zero: 0 }
    expect(await peer.call('echo', [value])).toEqual(value)
  })

  test('notifications arrive in order and before later calls', async () => {
    const peer = await (await serve(wire)).connect()
    for (let i = 0; i < 100; i++) void peer.notify('note', [i])
    expect(await peer.call('notes')).toEqual(Array.from({ length: 100 }, (_, i) => i))
  })

  test('errors keep their code, message and data; internal errors are hidden', async () => {
    const peer = await (await serve(wire)).connect()
    const error = { code: 4711, message: 'no', data: { why: ['x'] } }
    await expect(peer.call('fail', error)).rejects.toMatchObject({ name: 'RpcError', ...error })
    await expect(peer.call('missing')).rejects.toMatchObject({ code: -32601 })
    await expect(peer.call('crash')).rejects.toMatchObject({
      code: -32603,
      message: 'Internal error',
      data: undefined,
    })
    expect(await peer.call('sum', [1, 2])).toBe(3)
  })

  test('a batch is answered as a whole', async () => {
    const peer = await (await serve(wire)).connect()
    const answers = await peer.batch(b => [
      b.call('sum', [1, 2]),
      b.call('missing').catch((error: unknown) => error),
      b.call('later', { value: 'late', turns: 5 }),
      b.notify('note', ['in a batch']),
    ])
    expect(answers).toMatchObject([3, { code: -32601 }, 'late', undefined])
    expect(await peer.call('notes')).toEqual(['in a batch'])
  })

  test('a thousand concurrent calls, completed in another order, get their own results', async () => {
    const peer = await (await serve(wire)).connect()
    const calls = Array.from({ length: 1000 }, (_, value) =>
      peer.call('later', { value, turns: (value * 7919) % 13 }),
    )
    expect(await Promise.all(calls)).toEqual(calls.map((_, i) => i))
  })

  test('the callee can call the caller back', async () => {
    const peer = await (await serve(wire)).connect({ answer: (text: string) => `${text}!` })
    const requests = Array.from({ length: 50 }, (_, i) => peer.call('ask', { question: i }))
    expect(await Promise.all(requests)).toEqual(requests.map((_, i) => `the answer is ${i}!`))
  })

  test('a large message survives a round trip', async () => {
    const peer = await (await serve(wire)).connect()
    const text = 'wörld '.repeat(400_000)
    expect((await peer.call('echo', [text])) === text).toBe(true)
  })
})

describe.each(able('raw'))('over $name', wire => {
  test('malformed text is answered and the connection stays usable', async () => {
    const raw = await (await serve(wire)).raw()
    raw.send('{"jsonrpc": "2.0", "method": "sum", "params"')
    expect(await raw.next()).toBe(failure(null, -32700, 'Parse error'))
    raw.send('{"jsonrpc": "2.0", "id": 5, "method": 1}')
    expect(await raw.next()).toBe(failure(5, -32600, 'Invalid Request'))
    raw.send('[]')
    expect(await raw.next()).toBe(failure(null, -32600, 'Invalid Request'))
    raw.send(`[1, ${request(6, 'sum', [1, 2])}]`)
    expect(JSON.parse(await raw.next())).toEqual([
      JSON.parse(failure(null, -32600, 'Invalid Request')),
      JSON.parse(result(6, 3)),
    ])
    raw.send(request(7, 'sum', [3, 4]))
    expect(await raw.next()).toBe(result(7, 7))
  })

  test(`a message over the limit is answered, and the connection ${wire.afterOversize}`, async () => {
    const raw = await (await serve(wire, { decode: { maxBytes: 1000 } })).raw()
    raw.send(request(1, 'echo', ['x'.repeat(2000)]))
    const data = { maxSize: 1000, unit: 'bytes' }
    expect(await raw.next()).toBe(
      failure(null, -32012, 'Message size exceeds maximum allowed', data),
    )
    if (wire.afterOversize === 'goes on') {
      raw.send(request(2, 'sum', [1, 2]))
      expect(await raw.next()).toBe(result(2, 3))
    } else {
      expect(await raw.ended).toBe(wire.framing === undefined ? 1009 : undefined)
    }
  })
})

describe.each(able('raw', 'half-close'))('over $name', wire => {
  test('requests in flight when the input ends are answered', async () => {
    const raw = await (await serve(wire)).raw()
    for (let id = 0; id < 20; id++) raw.send(request(id, 'later', { value: id, turns: 20 - id }))
    raw.end()
    const answers: unknown[] = []
    for (let id = 0; id < 20; id++) answers.push(JSON.parse(await raw.next()).result)
    expect(answers.sort((a, b) => Number(a) - Number(b))).toEqual(answers.map((_, i) => i))
    await raw.ended
  })
})

describe.each(able('listener'))('over $name', wire => {
  test('closing answers requests in flight, and no new ones', async () => {
    let release: (value: string) => void = () => {}
    const gate = new Promise<string>(resolve => {
      release = resolve
    })
    const { connect, listener: listenerOf } = await serve(wire, {}, { hold: () => gate })
    const listener = listenerOf()
    const peer = await connect()
    const held = [peer.call('hold'), peer.call('hold')]
    await peer.call('sum', [1])
    const closing = listener.close()
    await expect(peer.call('sum', [1])).rejects.toMatchObject({
      code: -32000,
      message: expect.stringContaining('Shutting down'),
    })
    await expect(connect()).rejects.toMatchObject({ code: 'refused' })
    release('done')
    expect(await Promise.all(held)).toEqual(['done', 'done'])
    await closing
    await listener.ended
    await peer.closed
    await expect(peer.call('sum', [1])).rejects.toMatchObject({ code: 'closed' })
  })

  test('a caller that stops reading is disconnected, and others are not affected', async () => {
    const { connect, raw, socket } = await serve(wire, { maxOutboundBytes: 1_000_000 })
    const stopped = await socket()
    stopped.pause()
    if (wire.framing === undefined) await shakeHands(stopped)
    const flood = Buffer.from(request(1, 'flood', { count: 1000, bytes: 100_000 }))
    stopped.write(wire.framing === undefined ? masked(flood) : cuts[wire.framing].frame(flood))
    const peer = await connect()
    expect(await peer.call('sum', [1, 2])).toBe(3)
    const bystander = await raw()
    bystander.send(request(2, 'sum', [1, 2]))
    expect(await bystander.next()).toBe(result(2, 3))
    bystander.close()
    // When the caller reads again, the connection was closed long before the end.
    let bytes = 0
    stopped.on('data', chunk => {
      bytes += chunk.length
    })
    stopped.resume()
    if (!stopped.closed) await once(stopped, 'close')
    expect(bytes).toBeLessThan(50_000_000)
  })
})

describe.each(able('socket'))('over $name', wire => {
  const text = Buffer.from(request(1, 'echo', ['cut off']))
  const bytes = wire.framing === undefined ? masked(text) : cuts[wire.framing].frame(text)

  test.each(wire.can.includes('reset') ? ['reset', 'destroyed', 'ended'] : ['destroyed', 'ended'])(
    'a connection %s at any byte of a request leaves the server alive',
    async how => {
      const { connect, socket } = await serve(wire)
      for (let at = 0; at <= bytes.length; at++) {
        const client = await socket()
        if (wire.framing === undefined) await shakeHands(client)
        client.write(bytes.subarray(0, at))
        if (how === 'reset') client.resetAndDestroy()
        else if (how === 'destroyed') client.destroy()
        else client.resume().end()
      }
      const peer = await connect()
      expect(await peer.call('sum', [1, 2])).toBe(3)
    },
  )

  test('idle connections do not block others', async () => {
    const { connect, socket } = await serve(wire)
    for (let i = 0; i < 50; i++) await socket()
    expect(await (await connect()).call('sum', [1, 2])).toBe(3)
  })
})

describe('a WebSocket', () => {
  const wire = wires.find(({ name }) => name === 'a WebSocket')

  test('reset at any byte of its handshake leaves the server alive', async () => {
    const { connect, socket } = await serve(wire ?? expect.unreachable())
    for (let at = 0; at <= greeting('127.0.0.1:1').length; at += 3) {
      const client = await socket()
      client.write(greeting(`127.0.0.1:${client.remotePort}`).slice(0, at))
      client.resetAndDestroy()
    }
    expect(await (await connect()).call('sum', [1, 2])).toBe(3)
  })
})

function greeting(host: string): string {
  return [
    'GET / HTTP/1.1',
    `Host: ${host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    '\r\n',
  ].join('\r\n')
}

/** Opens a WebSocket by hand; the server's messages stay unread. */
async function shakeHands(socket: import('node:net').Socket): Promise<void> {
  socket.write(greeting(`127.0.0.1:${socket.remotePort}`))
  await once(socket, 'readable')
  expect(String(socket.read())).toContain('101 Switching Protocols')
}

/** One text message of a client, masked with zeros. */
function masked(payload: Buffer): Buffer {
  expect(payload.length).toBeLessThan(126)
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}
