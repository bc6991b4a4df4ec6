import { describe, expect, test, vi } from 'vitest'
import { pollOptions } from '../../test/support/poll-options.ts'
import type { Channel, Sink } from '../jsonrpc/channel.ts'
import type { Decoded, Message } from '../jsonrpc/message.ts'
import { memoryPair } from './memory.ts'

interface Received {
  readonly arrivals: Decoded[]
  readonly ends: (Error | undefined)[]
}

/** Opens a channel; `react` stands for what a peer would do with an arrival. */
function listen(channel: Channel, react: Sink['receive'] = () => {}): Received {
  const received: Received = { arrivals: [], ends: [] }
  channel.open({
    receive: (arrival, envelope) => {
      received.arrivals.push(arrival)
      return react(arrival, envelope)
    },
    closed: cause => {
      received.ends.push(cause)
    },
  })
  return received
}

const note = (method: string): Message => ({ type: 'notification', method })

describe('a memory pair', () => {
  test('delivers the very same objects in order, both ways', async () => {
    const [left, right] = memoryPair()
    const [atLeft, atRight] = [listen(left), listen(right)]
    const messages = [note('a'), note('b'), note('c')]
    for (const message of messages) void left.send(message)
    void right.send(note('back'))
    await Promise.resolve()
    expect(atRight.arrivals).toEqual(messages)
    expect(atRight.arrivals[1]).toBe(messages[1])
    expect(atLeft.arrivals).toEqual([note('back')])
  })

  test('delivers nothing inside send, and all that is queued in one microtask', async () => {
    const [left, right] = memoryPair()
    const atRight = listen(right)
    listen(left)
    for (let i = 0; i < 100; i++) void left.send(note('x'))
    expect(atRight.arrivals).toHaveLength(0)
    await Promise.resolve()
    expect(atRight.arrivals).toHaveLength(100)
  })

  test('does not recurse when receiving sends', async () => {
    const [left, right] = memoryPair()
    let depth = 0
    let deepest = 0
    let turns = 20_000
    const bounce = (channel: Channel) => (arrival: Decoded) => {
      deepest = Math.max(deepest, ++depth)
      if (turns-- > 0 && arrival.type !== 'invalid' && arrival.type !== 'batch') {
        void channel.send(arrival)
      }
      depth--
    }
    listen(left, bounce(left))
    const atRight = listen(right, bounce(right))
    void left.send(note('ball'))
    await vi.waitFor(() => expect(turns).toBeLessThan(0), pollOptions)
    expect(deepest).toBe(1)
    expect(atRight.arrivals.length).toBeGreaterThan(9_999)
  })

  test('keeps messages sent before the other channel opened', async () => {
    const [left, right] = memoryPair()
    listen(left)
    void left.send(note('early'))
    const atRight = listen(right)
    await Promise.resolve()
    expect(atRight.arrivals).toEqual([note('early')])
  })

  test('hands over an array as a batch and refuses an empty one', async () => {
    const [left, right] = memoryPair()
    const atRight = listen(right)
    listen(left)
    void left.send([note('a'), note('b')])
    expect(() => left.send([])).toThrow(TypeError)
    await Promise.resolve()
    expect(atRight.arrivals).toEqual([{ type: 'batch', entries: [note('a'), note('b')] }])
  })

  test('refuses a second sink', () => {
    const [left] = memoryPair()
    listen(left)
    expect(() => listen(left)).toThrow('open already')
  })
})

describe('a sink that applies backpressure', () => {
  test.each(['resolves', 'rejects'])('gets the next message when its promise %s', async how => {
    const [left, right] = memoryPair()
    let settle = (): void => {}
    const wait = new Promise<void>((resolve, reject) => {
      settle = how === 'resolves' ? resolve : () => reject(new Error('busy'))
    })
    const atRight = listen(right, () => (atRight.arrivals.length === 1 ? wait : undefined))
    listen(left)
    for (const name of ['a', 'b', 'c']) void left.send(note(name))
    await Promise.resolve()
    expect(atRight.arrivals).toHaveLength(1)
    settle()
    await vi.waitFor(() => expect(atRight.arrivals).toHaveLength(3), pollOptions)
  })

  test('makes the sender wait once 1024 messages have gathered, and lets it go on after', async () => {
    const [left, right] = memoryPair()
    let settle = (): void => {}
    const wait = new Promise<void>(resolve => {
      settle = resolve
    })
    const atRight = listen(right, () => (atRight.arrivals.length === 1 ? wait : undefined))
    listen(left)
    void left.send(note('first'))
    await Promise.resolve()
    for (let i = 0; i < 1024; i++) expect(left.send(note('more'))).toBeUndefined()
    const room = left.send(note('too many'))
    expect(room).toBeInstanceOf(Promise)
    settle()
    await room
    expect(atRight.arrivals).toHaveLength(1026)
  })

  test('costs no more per message when thousands wait', async () => {
    const [left, right] = memoryPair()
    const atRight = listen(right, () => Promise.resolve())
    listen(left)
    for (let i = 0; i < 10_000; i++) void left.send(note(`${i}`))
    await vi.waitFor(() => expect(atRight.arrivals).toHaveLength(10_000), pollOptions)
    expect(atRight.arrivals.at(-1)).toEqual(note('9999'))
  })
})

describe('closing a memory pair', () => {
  test('delivers the messages sent before, then calls closed on both sides once', async () => {
    const [left, right] = memoryPair()
    const [atLeft, atRight] = [listen(left), listen(right)]
    void left.send(note('last'))
    void right.send(note('words'))
    await Promise.all([left.close(), left.close(), right.close()])
    expect(atRight).toEqual({ arrivals: [note('last')], ends: [undefined] })
    expect(atLeft).toEqual({ arrivals: [note('words')], ends: [undefined] })
  })

  test('does not wait for a sink that rests for ever', async () => {
    const [left, right] = memoryPair()
    const atRight = listen(right, () => new Promise(() => {}))
    listen(left)
    for (const name of ['a', 'b', 'c']) void left.send(note(name))
    await left.close()
    expect(atRight.arrivals).toHaveLength(3)
    expect(atRight.ends).toEqual([undefined])
  })

  test('refuses further messages on both sides', async () => {
    const [left, right] = memoryPair()
    listen(left)
    listen(right)
    await left[Symbol.asyncDispose]()
    for (const side of [left, right]) {
      expect(() => side.send(note('late'))).toThrow(expect.objectContaining({ code: 'closed' }))
    }
  })

  test('rejects senders that wait', async () => {
    const [left] = memoryPair()
    listen(left)
    const sends = Array.from({ length: 1025 }, () => left.send(note('no sink')))
    await left.close()
    await expect(sends.at(-1)).rejects.toMatchObject({ code: 'closed' })
  })

  test('is reported to a side that opens later, after the messages', async () => {
    const [left, right] = memoryPair()
    listen(left)
    void left.send(note('bye'))
    await left.close()
    const atRight = listen(right)
    await Promise.resolve()
    expect(atRight).toEqual({ arrivals: [note('bye')], ends: [undefined] })
  })

  test('happens by itself, with the cause, when a sink throws', async () => {
    const [left, right] = memoryPair()
    const thrown = new Error('a bug')
    const atRight = listen(right, () => {
      throw thrown
    })
    const atLeft = listen(left)
    void left.send(note('a'))
    void left.send(note('b'))
    await vi.waitFor(() => expect(atLeft.ends).toHaveLength(1), pollOptions)
    expect(atRight.ends).toHaveLength(1)
    expect(atRight.ends[0]).toMatchObject({ code: 'closed', cause: thrown })
    expect(atRight.arrivals).toHaveLength(1)
  })
})
