import { describe, expect, it, vi } from 'vitest'
import { forever, manualDeadlines, pair, turn, wire } from '../../../test/support/wire.ts'
import { memoryPair } from '../../transport/memory.ts'
import { cancelParams } from '../cancellation.ts'
import { ChannelError } from '../channel.ts'
import { Peer } from './peer.ts'

describe('cancelling', () => {
  const cancellation = { method: '$/cancel', member: 'id' }

  it('notifies the peer, which stops and does not answer', async () => {
    let signal: AbortSignal | undefined
    const { client, server } = pair(
      (_, exchange) => {
        signal = exchange.signal
        return forever()
      },
      { cancellation },
      { cancellation },
    )
    const controller = new AbortController()
    const call = client.call('m', [], { signal: controller.signal })
    await turn()
    expect(server.inFlight).toBe(1)
    controller.abort('enough')
    await expect(call).rejects.toBe('enough')
    await turn()
    expect(signal?.aborted).toBe(true)
    expect(server.inFlight).toBe(0)
  })

  it.each<readonly [unknown, string, string | undefined]>([
    ['enough', 'cancelled: enough', 'enough'],
    [new Error('a secret'), 'cancelled', undefined],
    [new ChannelError('timeout', 'm: no reply in time'), 'cancelled: timeout', 'timeout'],
  ])('sends the reason if the protocol has a member for it: %s', async (why, message, words) => {
    const reasoned = { ...cancellation, reason: 'reason' }
    let signal: AbortSignal | undefined
    const { client } = pair(
      (_, exchange) => {
        signal = exchange.signal
        return forever()
      },
      { cancellation: reasoned },
      { cancellation: reasoned },
    )
    const controller = new AbortController()
    const call = client.call('m', [], { signal: controller.signal })
    await turn()
    controller.abort(why)
    await expect(call).rejects.toBe(why)
    await turn()
    expect(signal?.reason).toMatchObject({ code: 'closed', message })
    expect(cancelParams(reasoned, 1, why)).toEqual({ id: 1, ...(words && { reason: words }) })
    expect(cancelParams(cancellation, 1, why)).toEqual({ id: 1 })
  })

  it.each([0, '', '0'])('works for the id %j', async id => {
    const w = wire()
    const peer = new Peer(w.channel, { m: forever }, { cancellation })
    w.deliver(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"m"}`)
    w.deliver(`{"jsonrpc":"2.0","method":"$/cancel","params":{"id":${JSON.stringify(id)}}}`)
    expect(peer.inFlight).toBe(0)
    expect(w.sent).toEqual([])
  })

  it('answers at once where the protocol has an answer for it, and drops what comes later', async () => {
    const w = wire()
    let finish: (value: unknown) => void = () => {}
    const answer = { code: -32800, message: 'Request cancelled' }
    const peer = new Peer(
      w.channel,
      {
        m: () =>
          new Promise(resolve => {
            finish = resolve
          }),
      },
      { cancellation: { ...cancellation, answer } },
    )
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    expect(peer.cancel(1)).toBe(true)
    finish('too late')
    await turn()
    expect(w.sent).toEqual([
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"Request cancelled"}}',
    ])
    expect(peer.cancel(1)).toBe(false)
  })

  it('shows the signal aborted to a handler that looks only afterwards', async () => {
    const w = wire()
    let look: () => boolean = () => false
    const peer = new Peer(w.channel, (_, exchange) => {
      look = () => exchange.signal.aborted
      return forever()
    })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    peer.cancel(1)
    expect(look()).toBe(true)
  })
})

describe('too much at once', () => {
  it('runs so many requests, lets others wait in order, and refuses the rest', async () => {
    const w = wire()
    const answers: ((value: unknown) => void)[] = []
    const started: unknown[] = []
    const peer = new Peer(
      w.channel,
      {
        m: (n: number) =>
          new Promise(resolve => {
            started.push(n)
            answers.push(resolve)
          }),
      },
      { maxInFlight: 2, maxQueued: 2 },
    )
    for (const n of [1, 2, 3, 4, 5]) {
      w.deliver(`{"jsonrpc":"2.0","id":${n},"method":"m","params":[${n}]}`)
    }
    expect(started).toEqual([1, 2])
    expect(w.sent).toEqual([
      '{"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"Too many requests at once"}}',
    ])
    answers[0]?.('a')
    await turn()
    expect(started).toEqual([1, 2, 3])
    peer.cancel(4)
    answers[1]?.('b')
    answers[2]?.('c')
    await turn()
    expect(started).toEqual([1, 2, 3])
    expect(peer.inFlight).toBe(0)
  })

  it('stops reading while requests wait, and continues when they do not', async () => {
    const w = wire()
    const answers: ((value: unknown) => void)[] = []
    new Peer(
      w.channel,
      { m: () => new Promise(resolve => answers.push(resolve)) },
      { maxInFlight: 1, maxQueued: 2 },
    )
    expect(w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')).toBeUndefined()
    const pause = w.deliver('{"jsonrpc":"2.0","id":2,"method":"m"}')
    expect(pause).toBeInstanceOf(Promise)
    answers[0]?.(1)
    await pause
    expect(answers).toHaveLength(2)
  })

  it('continues reading while a handler waits for a reply on the same channel', async () => {
    const w = wire()
    const peer = new Peer(w.channel, { ask: () => peer.call('answer') }, { maxInFlight: 1 })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"ask"}')
    expect(w.deliver('{"jsonrpc":"2.0","id":2,"method":"ask"}')).toBeUndefined()
    w.deliver('{"jsonrpc":"2.0","id":1,"result":"yes"}')
    await turn()
    expect(w.sent).toContain('{"jsonrpc":"2.0","id":1,"result":"yes"}')
  })

  it('does not rest for ever: what ends the waiting may be waiting to be read', async () => {
    const { deadlines, advance } = manualDeadlines()
    const w = wire()
    new Peer(w.channel, { m: forever }, { maxInFlight: 1, maxQueued: 2, deadlines })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const pause = w.deliver('{"jsonrpc":"2.0","id":2,"method":"m"}')
    advance(10_001)
    await pause
  })

  it('gives the place of a cancelled request to the next, even if its handler never stops', async () => {
    const w = wire()
    const peer = new Peer(w.channel, { hang: forever, quick: () => 1 }, { maxInFlight: 2 })
    for (const id of [1, 2]) w.deliver(`{"jsonrpc":"2.0","id":${id},"method":"hang"}`)
    w.deliver('{"jsonrpc":"2.0","id":3,"method":"quick"}')
    expect(w.sent).toEqual([])
    peer.cancel(1)
    expect(w.sent).toEqual(['{"jsonrpc":"2.0","id":3,"result":1}'])
    // But not without end: as many again, and no more.
    for (const id of [4, 5, 6]) w.deliver(`{"jsonrpc":"2.0","id":${id},"method":"hang"}`)
    for (const id of [2, 4, 5, 6]) peer.cancel(id)
    w.deliver('{"jsonrpc":"2.0","id":7,"method":"quick"}')
    w.deliver('{"jsonrpc":"2.0","id":8,"method":"hang"}')
    w.deliver('{"jsonrpc":"2.0","id":9,"method":"quick"}')
    expect(w.sent).toHaveLength(1)
  })

  it('begins nothing new while replies cannot leave, and sends them in order', async () => {
    const w = wire()
    let drain: () => void = () => {}
    const started: number[] = []
    const peer = new Peer(w.channel, { m: (n: number) => started.push(n) })
    w.congest(
      new Promise<void>(resolve => {
        drain = resolve
      }),
    )
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}')
    w.deliver('{"jsonrpc":"2.0","id":2,"method":"m","params":[2]}')
    expect(started).toEqual([1])
    const closing = peer.close()
    w.congest(undefined)
    drain()
    await closing
    expect(started).toEqual([1, 2])
    expect(w.sent).toEqual([
      '{"jsonrpc":"2.0","id":1,"result":1}',
      '{"jsonrpc":"2.0","id":2,"result":2}',
    ])
  })

  it('holds calls back while nothing can leave, and takes back those given up meanwhile', async () => {
    const w = wire()
    let drain: () => void = () => {}
    const cancellation = { method: '$/cancel', member: 'id' }
    const client = new Peer(w.channel, {}, { cancellation })
    w.congest(
      new Promise<void>(resolve => {
        drain = resolve
      }),
    )
    const first = client.call('a')
    const controller = new AbortController()
    const second = client.call('b', [], { signal: controller.signal })
    const third = client.call('c')
    controller.abort('enough')
    await expect(second).rejects.toBe('enough')
    w.congest(undefined)
    drain()
    await turn()
    expect(w.sent.map(text => JSON.parse(text).method)).toEqual(['a', 'c'])
    w.deliver('{"jsonrpc":"2.0","id":1,"result":1}')
    w.deliver('{"jsonrpc":"2.0","id":3,"result":3}')
    expect(await Promise.all([first, third])).toEqual([1, 3])
  })

  it('bounds notifications that are being worked on, and stops them at the end', async () => {
    const w = wire()
    const signals: AbortSignal[] = []
    const peer = new Peer(
      w.channel,
      (_, { signal }) => {
        signals.push(signal)
        return forever()
      },
      { maxInFlight: 2 },
    )
    expect(w.deliver('{"jsonrpc":"2.0","method":"n"}')).toBeUndefined()
    expect(w.deliver('{"jsonrpc":"2.0","method":"n"}')).toBeInstanceOf(Promise)
    await peer.close()
    expect(signals.map(signal => signal.aborted)).toEqual([true, true])
  })

  it('stops waiting as soon as a handler calls the peer', async () => {
    const w = wire()
    let ask: () => void = () => {}
    const peer = new Peer(
      w.channel,
      {
        m: () =>
          new Promise(resolve => {
            ask = () => resolve(peer.call('answer'))
          }),
      },
      { maxInFlight: 1, maxQueued: 2 },
    )
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const pause = w.deliver('{"jsonrpc":"2.0","id":2,"method":"m"}')
    ask()
    await pause
    expect(w.sent).toContain('{"jsonrpc":"2.0","id":1,"method":"answer"}')
  })

  it('stops reading while its replies cannot leave', async () => {
    const w = wire()
    let drain: () => void = () => {}
    const room = new Promise<void>(resolve => {
      drain = resolve
    })
    new Peer(w.channel, { m: () => 1 })
    w.congest(room)
    const pause = w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    expect(pause).toBeInstanceOf(Promise)
    w.congest(undefined)
    drain()
    await pause
    await turn()
    expect(w.deliver('{"jsonrpc":"2.0","id":2,"method":"m"}')).toBeUndefined()
  })
})

describe('closing', () => {
  it('answers what is in flight, takes on nothing new, and then closes', async () => {
    const w = wire()
    let answer: (value: unknown) => void = () => {}
    const peer = new Peer(w.channel, {
      m: () =>
        new Promise(resolve => {
          answer = resolve
        }),
    })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const closing = peer.close()
    expect(peer.close()).toBe(closing)
    w.deliver('{"jsonrpc":"2.0","id":2,"method":"m"}')
    answer('done')
    await closing
    expect(w.sent).toEqual([
      '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Shutting down: the request was not begun"}}',
      '{"jsonrpc":"2.0","id":1,"result":"done"}',
    ])
    expect(w.isClosed).toBe(true)
    expect(await peer.closed).toBeUndefined()
  })

  it('cancels what takes longer than the deadline, and reports it', async () => {
    const { deadlines, advance } = manualDeadlines()
    const w = wire()
    let signal: AbortSignal | undefined
    const peer = new Peer(
      w.channel,
      (_, exchange) => {
        signal = exchange.signal
        return forever()
      },
      { deadlines },
    )
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const closing = peer.close({ drainMs: 50 })
    advance(51)
    await closing
    expect(signal?.aborted).toBe(true)
    expect(w.sent).toEqual([
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Shutting down"}}',
    ])
  })

  it.each([
    ['a request was answered', () => 1, true],
    ['a request is not answered in time', forever, false],
  ])('says whether every request was answered: %s', async (_, answer, isDrained) => {
    const { deadlines, advance } = manualDeadlines()
    const w = wire()
    const close = vi.fn(() => w.channel.close())
    const peer = new Peer({ ...w.channel, close }, { m: answer }, { deadlines })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const closing = peer.close({ drainMs: 50 })
    advance(51)
    await closing
    expect(close).toHaveBeenCalledWith({ isDrained })
  })

  it('does not count a request as answered whose response could not be sent', async () => {
    const w = wire()
    const close = vi.fn(() => w.channel.close())
    const send = (): never => {
      throw new ChannelError('too-large', 'too large')
    }
    const peer = new Peer({ ...w.channel, send, close }, { m: () => 1 }, { onError: () => {} })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    await peer.close()
    expect(close).toHaveBeenCalledWith({ isDrained: false })
  })

  it('waits for nothing, not even for the clock, when it may not', async () => {
    const { deadlines } = manualDeadlines()
    const w = wire()
    const peer = new Peer(w.channel, { m: forever }, { deadlines })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    await peer.close({ drainMs: 0 })
    expect(w.isClosed).toBe(true)
    expect(w.sent).toEqual([
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Shutting down"}}',
    ])
  })

  it('can be shortened while it waits', async () => {
    const { deadlines } = manualDeadlines()
    const w = wire()
    const peer = new Peer(w.channel, { m: forever }, { deadlines })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const closing = peer.close()
    expect(peer.close({ drainMs: 0 })).toBe(closing)
    await closing
    expect(w.isClosed).toBe(true)
  })

  it('can be hurried while it waits', async () => {
    const { deadlines, advance } = manualDeadlines()
    const w = wire()
    const peer = new Peer(w.channel, { m: forever }, { deadlines })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const closing = peer.close()
    expect(peer.close({ drainMs: 5 })).toBe(closing)
    advance(6)
    await closing
    expect(w.isClosed).toBe(true)
  })

  it('does not wait for a silent peer', async () => {
    const w = wire()
    const client = new Peer(w.channel)
    const call = client.call('m')
    const outcome = expect(call).rejects.toMatchObject({ code: 'closed' })
    await client.close()
    await outcome
    await expect(client.call('m')).rejects.toMatchObject({ code: 'closed' })
    expect(client.notify('m')).toBeUndefined()
  })

  it('fails the calls and stops the handlers when the connection breaks', async () => {
    const w = wire()
    let signal: AbortSignal | undefined
    const peer = new Peer(w.channel, (_, exchange) => {
      signal = exchange.signal
      return forever()
    })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const call = peer.call('m')
    const cause = new Error('cable cut')
    w.disconnect(cause)
    await expect(call).rejects.toMatchObject({ code: 'closed', cause })
    expect(signal?.reason).toBe(cause)
    expect(await peer.closed).toBe(cause)
    expect(w.sent).toHaveLength(1)
  })

  it('still answers requests in flight when the peer only ends its output', async () => {
    const w = wire()
    let answer: (value: unknown) => void = () => {}
    const peer = new Peer(w.channel, {
      m: () =>
        new Promise(resolve => {
          answer = resolve
        }),
    })
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    w.disconnect()
    answer('in time')
    await peer.closed
    expect(w.sent).toEqual(['{"jsonrpc":"2.0","id":1,"result":"in time"}'])
    expect(w.isClosed).toBe(true)
  })

  it('aborts at once if the peer cannot receive', async () => {
    const [near, far] = memoryPair()
    let signal: AbortSignal | undefined
    const server = new Peer(far, (_, exchange) => {
      signal = exchange.signal
      return forever()
    })
    const client = new Peer(near)
    const call = client.call('m').catch(() => {})
    await turn()
    await client.close()
    await call
    await server.closed
    expect(signal?.aborted).toBe(true)
  })

  it('aborts after a while if the peer could still receive', async () => {
    const { deadlines, advance } = manualDeadlines()
    const w = wire()
    let signal: AbortSignal | undefined
    const peer = new Peer(
      w.channel,
      (_, exchange) => {
        signal = exchange.signal
        return forever()
      },
      { deadlines, disconnectDrainMs: 100 },
    )
    w.deliver('{"jsonrpc":"2.0","id":1,"method":"m"}')
    w.disconnect()
    expect(signal?.aborted).toBe(false)
    advance(101)
    await peer.closed
    expect(signal?.aborted).toBe(true)
  })

  it('is what await using does', async () => {
    const w = wire()
    {
      await using peer = new Peer(w.channel)
      expect(peer.inFlight).toBe(0)
    }
    expect(w.isClosed).toBe(true)
  })
})
