import { describe, expect, it } from 'vitest'
import { forever, manualDeadlines, pair, turn, wire } from '../../test/support/wire.ts'
import { ChannelError } from './channel.ts'
import { Peer } from './peer.ts'

describe('cancelling', () => {
  const cancellation = { method: '$/cancel', member: 'id' }

  it('tells the other side, which stops and does not answer', async () => {
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

  it.each([0, '', '0'])('works for the id %j', async id => {
    const w = wire()
    const peer = new Peer(w.channel, { m: forever }, { cancellation })
    w.say(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"m"}`)
    w.say(`{"jsonrpc":"2.0","method":"$/cancel","params":{"id":${JSON.stringify(id)}}}`)
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
    w.say('{"jsonrpc":"2.0","id":1,"method":"m"}')
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
    w.say('{"jsonrpc":"2.0","id":1,"method":"m"}')
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
      w.say(`{"jsonrpc":"2.0","id":${n},"method":"m","params":[${n}]}`)
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

  it('stops reading while requests wait, and goes on when they do not', async () => {
    const w = wire()
    const answers: ((value: unknown) => void)[] = []
    new Peer(
      w.channel,
      { m: () => new Promise(resolve => answers.push(resolve)) },
      { maxInFlight: 1 },
    )
    expect(w.say('{"jsonrpc":"2.0","id":1,"method":"m"}')).toBeUndefined()
    const pause = w.say('{"jsonrpc":"2.0","id":2,"method":"m"}')
    expect(pause).toBeInstanceOf(Promise)
    answers[0]?.(1)
    await pause
    expect(answers).toHaveLength(2)
  })

  it('goes on reading while a handler waits for a reply, which comes the same way', async () => {
    const w = wire()
    const peer = new Peer(w.channel, { ask: () => peer.call('answer') }, { maxInFlight: 1 })
    w.say('{"jsonrpc":"2.0","id":1,"method":"ask"}')
    expect(w.say('{"jsonrpc":"2.0","id":2,"method":"ask"}')).toBeUndefined()
    w.say('{"jsonrpc":"2.0","id":1,"result":"yes"}')
    await turn()
    expect(w.sent).toContain('{"jsonrpc":"2.0","id":1,"result":"yes"}')
  })

  it('stops waiting the moment a handler asks back', async () => {
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
      { maxInFlight: 1 },
    )
    w.say('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const pause = w.say('{"jsonrpc":"2.0","id":2,"method":"m"}')
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
    const pause = w.say('{"jsonrpc":"2.0","id":1,"method":"m"}')
    expect(pause).toBeInstanceOf(Promise)
    w.congest(undefined)
    drain()
    await pause
    await turn()
    expect(w.say('{"jsonrpc":"2.0","id":2,"method":"m"}')).toBeUndefined()
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
    w.say('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const closing = peer.close()
    expect(peer.close()).toBe(closing)
    w.say('{"jsonrpc":"2.0","id":2,"method":"m"}')
    answer('done')
    await closing
    expect(w.sent).toEqual([
      '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Shutting down"}}',
      '{"jsonrpc":"2.0","id":1,"result":"done"}',
    ])
    expect(w.isClosed).toBe(true)
    expect(await peer.closed).toBeUndefined()
  })

  it('cuts what takes longer than the deadline, and says so', async () => {
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
    w.say('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const closing = peer.close({ drainMs: 50 })
    advance(51)
    await closing
    expect(signal?.aborted).toBe(true)
    expect(w.sent).toEqual([
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Shutting down"}}',
    ])
  })

  it('can be hurried while it waits', async () => {
    const { deadlines, advance } = manualDeadlines()
    const w = wire()
    const peer = new Peer(w.channel, { m: forever }, { deadlines })
    w.say('{"jsonrpc":"2.0","id":1,"method":"m"}')
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
    expect(() => client.notify('m')).toThrow(ChannelError)
  })

  it('fails the calls and stops the handlers when the connection breaks', async () => {
    const w = wire()
    let signal: AbortSignal | undefined
    const peer = new Peer(w.channel, (_, exchange) => {
      signal = exchange.signal
      return forever()
    })
    w.say('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const call = peer.call('m')
    const cause = new Error('cable cut')
    w.hangUp(cause)
    await expect(call).rejects.toMatchObject({ code: 'closed', cause })
    expect(signal?.reason).toBe(cause)
    expect(await peer.closed).toBe(cause)
    expect(w.sent).toHaveLength(1)
  })

  it('still answers what is in flight when the other side only stops talking', async () => {
    const w = wire()
    let answer: (value: unknown) => void = () => {}
    const peer = new Peer(w.channel, {
      m: () =>
        new Promise(resolve => {
          answer = resolve
        }),
    })
    w.say('{"jsonrpc":"2.0","id":1,"method":"m"}')
    w.hangUp()
    answer('in time')
    await peer.closed
    expect(w.sent).toEqual(['{"jsonrpc":"2.0","id":1,"result":"in time"}'])
    expect(w.isClosed).toBe(true)
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
