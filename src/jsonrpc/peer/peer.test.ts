import { describe, expect, it, vi } from 'vitest'
import { pollOptions } from '../../../test/support/poll-options.ts'
import { forever, manualDeadlines, pair, turn, wire } from '../../../test/support/wire.ts'
import { ChannelError } from '../channel.ts'
import { encode } from '../codec/encode.ts'
import { RpcError } from '../error.ts'
import type { Message } from '../message.ts'
import { Peer } from './peer.ts'

describe('calling', () => {
  it('passes params by position and by name', async () => {
    const { client } = pair({
      sum: (...n: number[]) => n.reduce((a, b) => a + b, 0),
      subtract: ({ minuend, subtrahend }) => minuend - subtrahend,
      nothing: (...args) => args.length,
      quiet: () => undefined,
    })
    expect(await client.call('quiet')).toBe(null)
    expect(await client.call('sum', [1, 2, 4])).toBe(7)
    expect(await client.call('subtract', { minuend: 42, subtrahend: 23 })).toBe(19)
    expect(await client.call('nothing')).toBe(0)
  })

  it('rejects with the error that the peer threw', async () => {
    const { client } = pair({
      refuse: () => {
        throw new RpcError(7, 'not today', { data: { until: 'tomorrow' } })
      },
    })
    const error = await client.call('refuse').catch(e => e)
    expect(error).toBeInstanceOf(RpcError)
    expect(error).toMatchObject({ code: 7, message: 'not today', data: { until: 'tomorrow' } })
  })

  it('sends no internal error to the peer, but reports it locally', async () => {
    const onError = vi.fn()
    const { client } = pair(
      {
        now: () => {
          throw new Error('the password is 1234')
        },
        later: () => Promise.reject('secret'),
      },
      { onError },
    )
    for (const method of ['now', 'later']) {
      const error = await client.call(method).catch(e => e)
      expect(error).toMatchObject({ code: -32603, message: 'Internal error', data: undefined })
    }
    expect(onError.mock.calls.map(([error, message]) => [String(error), message.method])).toEqual([
      ['Error: the password is 1234', 'now'],
      ['secret', 'later'],
    ])
  })

  it.each(['missing', 'constructor', '__proto__', 'toString', 'rpc.discover'])(
    'finds no method called %s',
    async method => {
      const { client } = pair({ known: () => 1 })
      await expect(client.call(method)).rejects.toMatchObject({ code: -32601, data: undefined })
    },
  )

  it('refuses to serve a reserved name', () => {
    expect(() => pair({ 'rpc.mine': () => 1 })).toThrow(/reserved/)
  })

  it('settles each of a thousand calls with its own reply, in any order', async () => {
    const waiting: (() => void)[] = []
    const { client } = pair(
      { echo: n => new Promise(resolve => waiting.push(() => resolve(n))) },
      { maxInFlight: 1000 },
    )
    const calls = Array.from({ length: 1000 }, (_, i) => client.call('echo', [i]))
    await turn()
    for (const answer of waiting.reverse()) answer()
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 1000 }, (_, i) => i))
  })

  it('lets both sides call each other, and a handler call back', async () => {
    const { client, server } = pair(
      async (message, { back, notify }) => {
        const word = await back?.call('word')
        await notify('received', [word])
        return `${message.method} ${word}`
      },
      {},
      {},
      { word: () => 'hello', received: () => undefined },
    )
    expect(await client.call('say')).toBe('say hello')
    expect(await server.call('word')).toBe('hello')
  })

  it('times out, and reports the late reply as late', async () => {
    const { deadlines, advance } = manualDeadlines()
    const onStray = vi.fn()
    const w = wire()
    const client = new Peer(w.channel, {}, { deadlines, timeoutMs: 100, onStray })
    const slow = client.call('slow')
    const slower = client.call('slower', [], { timeoutMs: 200 })
    const endless = client.call('endless', [], { timeoutMs: 0 })
    const outcome = Promise.allSettled([slow, slower])
    advance(101)
    await expect(slow).rejects.toMatchObject({ code: 'timeout' })
    advance(100)
    await expect(slower).rejects.toMatchObject({ code: 'timeout' })
    advance(1e9)
    await outcome
    w.deliver('{"jsonrpc":"2.0","id":1,"result":1}')
    expect(onStray).toHaveBeenCalledWith({ type: 'result', id: 1, result: 1 }, 'late')
    w.deliver('{"jsonrpc":"2.0","id":3,"result":"still here"}')
    expect(await endless).toBe('still here')
  })

  it('stops with the reason of its signal, before, during and after', async () => {
    const w = wire()
    const client = new Peer(w.channel)
    const reason = new Error('changed my mind')
    await expect(client.call('m', [], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(w.sent).toEqual([])
    const controller = new AbortController()
    const call = client.call('m', [], { signal: controller.signal })
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    const done = new AbortController()
    const answered = client.call('m', [], { signal: done.signal })
    w.deliver('{"jsonrpc":"2.0","id":2,"result":1}')
    expect(await answered).toBe(1)
    done.abort()
    expect(client.pendingCalls).toBe(0)
  })

  it('refuses what is not JSON and stays usable', async () => {
    const w = wire()
    const client = new Peer(w.channel)
    await expect(client.call('m', [1n])).rejects.toMatchObject({ code: 'unserialisable' })
    await expect(client.call('m', 5 as unknown as object)).rejects.toMatchObject({
      code: 'unserialisable',
    })
    expect(client.pendingCalls).toBe(0)
    const call = client.call('m')
    w.deliver('{"jsonrpc":"2.0","id":3,"result":1}')
    expect(await call).toBe(1)
  })

  it('keeps to the number of calls that may wait', async () => {
    const w = wire()
    const client = new Peer(w.channel, {}, { maxPendingCalls: 1 })
    const first = client.call('m')
    await expect(client.call('m')).rejects.toMatchObject({ code: 'too-many' })
    w.deliver('{"jsonrpc":"2.0","id":1,"result":1}')
    expect(await first).toBe(1)
  })

  it('refuses an id that is in use', async () => {
    const w = wire()
    const client = new Peer(w.channel, {}, { makeId: () => 'same' })
    const first = client.call('m')
    await expect(client.call('m')).rejects.toMatchObject({ code: 'id-collision' })
    w.deliver('{"jsonrpc":"2.0","id":"same","result":1}')
    expect(await first).toBe(1)
  })

  it('closes when its ids are used up', async () => {
    const w = wire()
    const levels: string[] = []
    const client = new Peer(w.channel, {}, { maxId: 2, onIdLevel: level => levels.push(level) })
    const calls = Promise.allSettled([client.call('m'), client.call('m')])
    await expect(client.call('m')).rejects.toMatchObject({ code: 'id-overflow' })
    await client.closed
    expect(w.isClosed).toBe(true)
    expect(levels).toEqual(['reserved'])
    for (const call of await calls) expect(call).toMatchObject({ reason: { code: 'closed' } })
  })
})

describe('replies that match no call', () => {
  it.each([
    ['a second reply', '{"jsonrpc":"2.0","id":1,"result":2}', 'duplicate'],
    ['an id never given out', '{"jsonrpc":"2.0","id":99,"result":2}', 'foreign'],
    ['an id of another type', '{"jsonrpc":"2.0","id":"1","result":2}', 'foreign'],
    [
      'an error without an id',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
      'orphan',
    ],
    ['a broken reply to no call', '{"jsonrpc":"2.0","id":99,"error":1}', 'foreign'],
  ])('%s is reported and changes nothing', async (_, text, why) => {
    const onStray = vi.fn()
    const w = wire()
    const client = new Peer(w.channel, {}, { onStray })
    const call = client.call('m')
    w.deliver('{"jsonrpc":"2.0","id":1,"result":1}')
    expect(await call).toBe(1)
    w.deliver(text)
    expect(onStray).toHaveBeenCalledOnce()
    expect(onStray.mock.calls[0]?.[1]).toBe(why)
    expect(w.sent).toHaveLength(1)
    const next = client.call('m')
    w.deliver('{"jsonrpc":"2.0","id":2,"result":"ok"}')
    expect(await next).toBe('ok')
  })

  it('a broken reply fails the call it names and is not answered', async () => {
    const w = wire()
    const client = new Peer(w.channel)
    const call = client.call('m')
    w.deliver('{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"both"}}')
    await expect(call).rejects.toMatchObject({ code: 'framing' })
    expect(w.sent).toHaveLength(1)
  })

  it('0 and "" are ids like any other', async () => {
    const ids = [0, '', '0']
    const w = wire()
    const client = new Peer(w.channel, {}, { makeId: () => ids.shift() ?? 'x' })
    const calls = [client.call('a'), client.call('b'), client.call('c')]
    w.deliver('{"jsonrpc":"2.0","id":"","result":"b"}')
    w.deliver('{"jsonrpc":"2.0","id":"0","result":"c"}')
    w.deliver('{"jsonrpc":"2.0","id":0,"result":"a"}')
    expect(await Promise.all(calls)).toEqual(['a', 'b', 'c'])
  })
})

describe('answering', () => {
  it('answers malformed text and stays open', () => {
    const onMalformed = vi.fn()
    const w = wire()
    new Peer(w.channel, { ping: () => 'pong' }, { onMalformed })
    w.deliver('{nope')
    w.deliver('{"jsonrpc":"2.0","id":"k","method":1}')
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    expect(w.sent).toEqual([
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
      '{"jsonrpc":"2.0","id":"k","error":{"code":-32600,"message":"Invalid Request"}}',
      '{"jsonrpc":"2.0","id":1,"result":"pong"}',
    ])
    expect(onMalformed.mock.calls.map(([what]) => what.reason)).toEqual(['json', 'method'])
  })

  it('echoes ids exactly, null and large ones too', () => {
    const w = wire()
    new Peer(w.channel, { ping: () => 1 })
    for (const id of [
      '0',
      '""',
      'null',
      '"é"',
      '-5',
      '1152921504606846975',
      '99999999999999999999',
    ]) {
      w.deliver(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)
      expect(w.sent.pop()).toBe(`{"jsonrpc":"2.0","id":${id},"result":1}`)
    }
  })

  it('never answers a notification, even if it fails', async () => {
    const onError = vi.fn()
    const w = wire()
    new Peer(
      w.channel,
      {
        fine: () => 1,
        throws: () => {
          throw new Error('x')
        },
        rejects: () => Promise.reject(new Error('y')),
      },
      { onError },
    )
    for (const method of ['fine', 'throws', 'rejects', 'missing']) {
      w.deliver(`{"jsonrpc":"2.0","method":"${method}"}`)
    }
    await turn()
    expect(w.sent).toEqual([])
    expect(onError).toHaveBeenCalledTimes(3)
  })

  it('counts a request while its handler is being called, and finds it by its id', () => {
    const w = wire()
    const seen: unknown[] = []
    const peer: Peer = new Peer(w.channel, {
      look: () => {
        seen.push(peer.inFlight)
        // A channel may deliver while something is being sent.
        w.deliver(encode({ type: 'request', id: 1, method: 'look' }))
        w.deliver(encode({ type: 'request', id: 2, method: 'other' }))
        return 'seen'
      },
      other: () => {
        seen.push(peer.inFlight)
        return 'other'
      },
    })
    w.deliver(encode({ type: 'request', id: 1, method: 'look' }))
    expect(seen).toEqual([1, 2])
    expect(peer.inFlight).toBe(0)
    expect(w.sent.map(text => JSON.parse(text))).toMatchObject([
      { id: null, error: { code: -32600 } },
      { id: 2, result: 'other' },
      { id: 1, result: 'seen' },
    ])
  })

  it.each([
    ['at once', () => 'dropped'],
    ['later', async () => 'dropped'],
    [
      'with an error',
      () => {
        throw new RpcError(7, 'dropped')
      },
    ],
  ])('drops what a handler gives %s that has cancelled its own request', async (_, give) => {
    const w = wire()
    const peer: Peer = new Peer(w.channel, {
      stop: () => {
        expect(peer.cancel(1)).toBe(true)
        return give()
      },
    })
    w.deliver(encode({ type: 'request', id: 1, method: 'stop' }))
    await turn()
    expect(w.sent).toEqual([])
    expect(peer.inFlight).toBe(0)
    expect(peer.cancel(1)).toBe(false)
  })

  it('answers a request whose handler closes the peer and then continues', async () => {
    const w = wire()
    const peer: Peer = new Peer(w.channel, {
      end: async () => {
        void peer.close()
        await turn()
        return 'done'
      },
    })
    w.deliver(encode({ type: 'request', id: 1, method: 'end' }))
    await peer.closed
    expect(w.sent.map(text => JSON.parse(text))).toMatchObject([{ id: 1, result: 'done' }])
  })

  it('refuses an id that is in flight, and answers the first request all the same', async () => {
    const w = wire()
    let answer: (value: string) => void = () => {}
    new Peer(w.channel, {
      wait: () =>
        new Promise(resolve => {
          answer = resolve
        }),
      ping: () => 'pong',
    })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"wait"}')
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    w.deliver('{"jsonrpc":"2.0","id":"1","method":"ping"}')
    answer('first')
    await turn()
    expect(w.sent).toEqual([
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}',
      '{"jsonrpc":"2.0","id":"1","result":"pong"}',
      '{"jsonrpc":"2.0","id":1,"result":"first"}',
    ])
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    expect(w.sent.at(-1)).toBe('{"jsonrpc":"2.0","id":1,"result":"pong"}')
  })

  it('answers a malformed request without the id of another one that is in flight', () => {
    const w = wire()
    new Peer(w.channel, { wait: forever })
    w.deliver('{"jsonrpc":"2.0","id":5,"method":"wait"}')
    w.deliver('{"jsonrpc":"2.0","id":5,"method":"wait","params":1}')
    expect(w.sent).toEqual([
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}',
    ])
  })

  it('prints what failed, but not what was only refused', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => {})
    const w = wire()
    new Peer(w.channel, { m: () => Promise.reject(new Error('x')) })
    w.deliver('{"jsonrpc":"2.0","method":"unknown"}')
    w.deliver('{"jsonrpc":"2.0","method":"m"}')
    await turn()
    expect(print).toHaveBeenCalledOnce()
    print.mockRestore()
  })

  it('answers an internal error for a result that is not JSON, alone and in a batch', () => {
    const onError = vi.fn()
    const w = wire()
    new Peer(w.channel, { bad: () => 1n, good: () => 1 }, { onError })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"bad"}')
    w.deliver('[{"jsonrpc":"2.0","id":2,"method":"good"},{"jsonrpc":"2.0","id":3,"method":"bad"}]')
    const internal = '"error":{"code":-32603,"message":"Internal error"}'
    expect(w.sent).toEqual([
      `{"jsonrpc":"2.0","id":1,${internal}}`,
      `[{"jsonrpc":"2.0","id":2,"result":1},{"jsonrpc":"2.0","id":3,${internal}}]`,
    ])
    expect(onError).toHaveBeenCalledTimes(2)
  })

  it('lets a profile choose how errors look outside', () => {
    const w = wire()
    new Peer(
      w.channel,
      {
        m: () => {
          throw new RpcError(1, 'one')
        },
      },
      { toWire: error => ({ code: error.code + 1, message: 'two' }) },
    )
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    expect(w.sent).toEqual(['{"jsonrpc":"2.0","id":1,"error":{"code":2,"message":"two"}}'])
  })
})

describe('batches', () => {
  it('are made, sent and settled as one', async () => {
    const { client } = pair({ sum: (a: number, b: number) => a + b, note: () => undefined })
    const [three, seven] = await client.batch(b => [b.call('sum', [1, 2]), b.call('sum', [3, 4])])
    expect([three, seven]).toEqual([3, 7])
    expect(await client.batch(() => [])).toEqual([])
    await client.batch(b => [b.notify('note')])
    const mixed = client.batch(b => [b.call('sum', [1, 2]), b.call('missing').catch(e => e.code)])
    expect(await mixed).toEqual([3, -32601])
    await expect(client.batch(b => [b.call('missing')])).rejects.toMatchObject({ code: -32601 })
  })

  it('fail together when they cannot be sent', async () => {
    const client = new Peer(wire().channel)
    const batch = client.batch(b => [b.call('a', [1]), b.call('b', [1n])])
    await expect(batch).rejects.toMatchObject({ code: 'unserialisable' })
    expect(client.pendingCalls).toBe(0)
  })

  it('are answered in order, with errors in their places and nothing for notifications', async () => {
    const w = wire()
    const seen: string[] = []
    new Peer(w.channel, {
      slow: async () => {
        await turn()
        return 'slow'
      },
      quick: () => 'quick',
      note: () => seen.push('note'),
    })
    w.deliver(
      '[{"jsonrpc":"2.0","id":1,"method":"slow"},{"jsonrpc":"2.0","method":"note"},1,' +
        '{"jsonrpc":"2.0","id":2,"method":"quick"},{"jsonrpc":"2.0","id":"5","method":"none"},' +
        '{"jsonrpc":"2.0","id":2,"method":"quick"}]',
    )
    expect(seen).toEqual(['note'])
    await vi.waitFor(() => expect(w.sent).toHaveLength(1), pollOptions)
    expect(JSON.parse(w.sent[0] ?? '')).toEqual([
      { jsonrpc: '2.0', id: 1, result: 'slow' },
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid Request' } },
      { jsonrpc: '2.0', id: 2, result: 'quick' },
      { jsonrpc: '2.0', id: '5', error: { code: -32601, message: 'Method not found' } },
      { jsonrpc: '2.0', id: 2, result: 'quick' },
    ])
  })

  it('of notifications alone are not answered', async () => {
    const w = wire()
    new Peer(w.channel, { note: () => 1 })
    w.deliver('[{"jsonrpc":"2.0","method":"note"},{"jsonrpc":"2.0","method":"note"}]')
    await turn()
    expect(w.sent).toEqual([])
  })

  it('of replies settle the calls they name', async () => {
    const w = wire()
    const client = new Peer(w.channel)
    const calls = Promise.allSettled([client.call('a'), client.call('b'), client.call('c')])
    w.deliver(
      '[{"jsonrpc":"2.0","id":2,"result":"b"},{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a"}},' +
        '{"jsonrpc":"2.0","id":3,"result":1,"error":1}]',
    )
    expect(await calls).toMatchObject([
      { reason: { code: 1 } },
      { value: 'b' },
      { reason: { code: 'framing' } },
    ])
    expect(w.sent).toHaveLength(3)
  })

  it('are refused with one error where there are none', () => {
    const w = wire()
    new Peer(w.channel, { m: () => 1 }, { batches: false })
    w.deliver('[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":2,"method":"m"}]')
    expect(w.sent).toEqual([
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}',
    ])
  })
})

it('a call that the channel gets no reply for rejects, and the others wait on', async () => {
  const w = wire()
  const peer = new Peer(w.channel)
  const calls = [peer.call('a'), peer.call('b')]
  const lost = new ChannelError('outcome-unknown', 'broke off')
  w.fail(1, lost)
  w.fail(7, lost)
  await expect(calls[0]).rejects.toBe(lost)
  expect(peer.pendingCalls).toBe(1)
  w.deliver(encode({ type: 'result', id: 2, result: 'b' }))
  expect(await calls[1]).toBe('b')
})

it('many calls leave nothing behind', async () => {
  const w = wire()
  const peer = new Peer(w.channel, { m: () => 1 })
  const reply = (id: number): Message => ({ type: 'result', id, result: 1 })
  for (let i = 1; i <= 20_000; i++) {
    const call = peer.call('m')
    w.deliver(encode(reply(i)))
    await call
    w.deliver(`{"jsonrpc":"2.0","id":${i},"method":"m"}`)
    w.sent.length = 0
  }
  expect(peer.pendingCalls).toBe(0)
  expect(peer.inFlight).toBe(0)
})
