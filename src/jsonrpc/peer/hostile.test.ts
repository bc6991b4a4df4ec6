import { describe, expect, it, vi } from 'vitest'
import { pair, turn, wire } from '../../../test/support/wire.ts'
import { Peer } from './peer.ts'

const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error('get')
    },
    has() {
      throw new Error('has')
    },
    getPrototypeOf() {
      throw new Error('prototype')
    },
  },
)

describe('what handlers may do', () => {
  const rows: [string, () => unknown][] = [
    ['throw null', () => Promise.reject(null)],
    ['throw undefined', () => Promise.reject(undefined)],
    ['throw a frozen error', () => Promise.reject(Object.freeze(new Error('x')))],
    [
      'throw a proxy that throws in instanceof',
      () => {
        throw hostile
      },
    ],
    ['return such a proxy', () => hostile],
    [
      'return an object whose then throws when it is looked at',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: that is the point
        get then(): never {
          throw new Error('then')
        },
      }),
    ],
    [
      'return a thenable that throws',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: that is the point
        then() {
          throw new Error('then')
        },
      }),
    ],
  ]
  it.each(rows)('%s, and the connection stays open', async (_, code) => {
    const { client } = pair({ odd: code, fine: () => 1 }, { onError: () => {} })
    await expect(client.call('odd')).rejects.toMatchObject({ code: -32603 })
    expect(await client.call('fine')).toBe(1)
  })

  it('return a thenable that settles twice', async () => {
    const twice = {
      // biome-ignore lint/suspicious/noThenProperty: that is the point
      then(resolve: (value: number) => void) {
        resolve(1)
        resolve(2)
      },
    }
    const { client } = pair({ twice: () => twice }, { maxInFlight: 1 })
    for (let i = 0; i < 5; i++) expect(await client.call('twice')).toBe(1)
  })
})

describe('what callbacks may do', () => {
  it('throw, and the connection stays open', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => {})
    const fail = (): never => {
      throw new Error('callback')
    }
    const w = wire()
    new Peer(
      w.channel,
      { now: fail, later: () => Promise.reject(new Error('x')), fine: () => 1 },
      { onError: fail, onStray: fail, onMalformed: fail },
    )
    w.deliver('{nope')
    w.deliver('{"jsonrpc":"2.0","id":99,"result":1}')
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"now"}')
    w.deliver('{"jsonrpc":"2.0","id":2,"method":"later"}')
    await turn()
    w.deliver('{"jsonrpc":"2.0","id":3,"method":"fine"}')
    expect(w.sent.map(text => JSON.parse(text).id)).toEqual([null, 1, 2, 3])
    expect(print).toHaveBeenCalledTimes(4)
    print.mockRestore()
  })

  it('fail while a batch is built, and nothing is left waiting', async () => {
    const w = wire()
    const client = new Peer(w.channel)
    const error = new Error('while building')
    const batch = client.batch(b => {
      void b.call('a')
      throw error
    })
    await expect(batch).rejects.toBe(error)
    expect(client.pendingCalls).toBe(0)
    expect(w.sent).toEqual([])
  })
})

describe('an error without an id', () => {
  const error = '{"jsonrpc":"2.0","id":null,"error":{"code":-32012,"message":"too large"}}'

  it('ends the only call there is', async () => {
    const w = wire()
    const client = new Peer(w.channel)
    const call = client.call('m')
    w.deliver(error)
    await expect(call).rejects.toMatchObject({ code: -32012 })
  })

  it('ends the only batch there is', async () => {
    const w = wire()
    const client = new Peer(w.channel)
    const batch = client.batch(b => [b.call('a'), b.call('b')])
    w.deliver(error)
    await expect(batch).rejects.toMatchObject({ code: -32012 })
    expect(client.pendingCalls).toBe(0)
  })

  it.each([
    [-32700, 'rejected'],
    [-32600, 'rejected'],
    [-32012, 'rejected'],
    [-32603, 'answered'],
    [-32000, 'answered'],
    [1, 'answered'],
  ])('with the code %i leaves the only call %s, and is reported', async (code, expected) => {
    const onStray = vi.fn()
    const w = wire()
    const client = new Peer(w.channel, {}, { onStray })
    const outcome = client.call('m').then(
      () => 'answered',
      () => 'rejected',
    )
    w.deliver(`{"jsonrpc":"2.0","id":null,"error":{"code":${code},"message":"x"}}`)
    w.deliver('{"jsonrpc":"2.0","id":1,"result":1}')
    expect(await outcome).toBe(expected)
    expect(onStray.mock.calls[0]?.[1]).toBe('orphan')
  })

  it('ends nothing where it could be about several', async () => {
    const onStray = vi.fn()
    const w = wire()
    const client = new Peer(w.channel, {}, { onStray })
    const calls = Promise.allSettled([client.call('a'), client.call('b')])
    w.deliver(error)
    expect(onStray.mock.calls[0]?.[1]).toBe('orphan')
    expect(client.pendingCalls).toBe(2)
    await client.close()
    await calls
  })
})

describe('small print of calls', () => {
  it('takes a time that is up for what it is', async () => {
    const client = new Peer(wire().channel)
    await expect(client.call('m', [], { timeoutMs: -1 })).rejects.toMatchObject({ code: 'timeout' })
    expect(client.pendingCalls).toBe(0)
  })

  it('shares one listener between all calls of a signal', async () => {
    const w = wire()
    const client = new Peer(w.channel)
    const controller = new AbortController()
    const listen = vi.spyOn(controller.signal, 'addEventListener')
    const calls = Array.from({ length: 50 }, () => client.call('m', [], controller))
    expect(listen).toHaveBeenCalledOnce()
    const outcomes = Promise.allSettled(calls)
    controller.abort('all')
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: 'all' })
  })

  it('finds the reply to an id that was made as a bigint', async () => {
    const w = wire()
    const client = new Peer(w.channel, {}, { makeId: () => 7n })
    const call = client.call('m')
    w.deliver('{"jsonrpc":"2.0","id":7,"result":1}')
    expect(await call).toBe(1)
  })

  it('names the method of a call that was lost', async () => {
    const w = wire()
    const client = new Peer(w.channel)
    const call = client.call('lost')
    w.disconnect(new Error('cable'))
    await expect(call).rejects.toThrow('lost: the connection closed')
  })
})
