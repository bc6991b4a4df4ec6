import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { ChannelError } from '../../jsonrpc/channel.ts'
import { HeldBytes } from '../../util/sockets/held-bytes.ts'
import { Backpressure, type BackpressureOptions } from './backpressure.ts'

/** An backpressure whose unsent bytes a test sets by hand. */
function backpressure(options: BackpressureOptions) {
  const state = { unsent: 0, slow: [] as ChannelError[] }
  const box = new Backpressure(
    { unsent: () => state.unsent, tooSlow: error => state.slow.push(error) },
    options,
  )
  const send = (bytes: number): void | Promise<void> => {
    box.admit()
    state.unsent += bytes
    return box.added(bytes)
  }
  const leave = (bytes: number): void => {
    state.unsent -= bytes
    box.progressed()
  }
  return { box, state, send, leave }
}

const options = { highWaterBytes: 100, maxOutboundBytes: 1000, stallMs: 50 }

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('an backpressure', () => {
  test('lets senders continue up to the high-water mark and makes them wait above it', async () => {
    const { send, leave } = backpressure(options)
    expect(send(100)).toBeUndefined()
    const room = send(1)
    expect(room).toBeInstanceOf(Promise)
    leave(1)
    await room
    expect(send(0)).toBeUndefined()
  })

  test('has a timer only above the high water', () => {
    const { send, leave } = backpressure(options)
    void send(100)
    expect(vi.getTimerCount()).toBe(0)
    void send(1)
    expect(vi.getTimerCount()).toBe(1)
    leave(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('rejects a message over the limit and notifies the owner once', async () => {
    const { send, state } = backpressure(options)
    const room = send(1000)
    void send(1)
    expect(() => send(1)).toThrow(expect.objectContaining({ code: 'too-slow' }))
    expect(() => send(1)).toThrow(expect.objectContaining({ code: 'closed' }))
    await expect(room).rejects.toMatchObject({ code: 'too-slow' })
    expect(state.slow).toHaveLength(1)
    expect(state.unsent).toBe(1001)
  })

  test('lets one message exceed the limit by itself, with the usual room behind it', () => {
    const { send, state } = backpressure(options)
    void send(5000)
    void send(900)
    expect(state.slow).toEqual([])
    void send(101)
    expect(() => send(1)).toThrow('too slow')
  })

  test('does not let a row of large messages lift the limit for good', () => {
    const { send, state } = backpressure(options)
    const flood = (): void => {
      for (let i = 0; i < 100; i++) void send(5000)
    }
    expect(flood).toThrow('too slow')
    expect(state.unsent).toBeLessThanOrEqual(1000 + 2 * 5000)
  })

  test('gives up when nothing leaves for the stall time', async () => {
    const { send, state } = backpressure(options)
    const room = send(500)
    vi.advanceTimersByTime(49)
    expect(state.slow).toEqual([])
    vi.advanceTimersByTime(1)
    expect(state.slow).toHaveLength(1)
    await expect(room).rejects.toMatchObject({ code: 'too-slow' })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is patient with a reader that takes little by little while more is sent', () => {
    const { send, leave, state } = backpressure(options)
    void send(500)
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(40)
      void send(10)
      leave(1)
    }
    expect(state.slow).toEqual([])
    vi.advanceTimersByTime(60)
    expect(state.slow).toHaveLength(1)
  })

  test('does not take more messages for progress', () => {
    const { box, send, state } = backpressure(options)
    void send(500)
    vi.advanceTimersByTime(40)
    void send(10)
    box.progressed()
    vi.advanceTimersByTime(10)
    expect(state.slow).toHaveLength(1)
  })

  test('rejects waiting senders when it is closed, and later ones', async () => {
    const { box, send, state } = backpressure(options)
    const room = send(500)
    const error = new ChannelError('closed', 'over')
    box.close(error)
    await expect(room).rejects.toBe(error)
    expect(() => send(1)).toThrow(error)
    expect(vi.getTimerCount()).toBe(0)
    expect(state.slow).toEqual([])
  })

  test('does not report a rejection that no sender waits for', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    const { box, send } = backpressure(options)
    void send(500)
    box.close(new ChannelError('closed', 'over'))
    vi.useRealTimers()
    await new Promise(resolve => setImmediate(resolve))
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })
})

test('beyond the budget of a listener, connections close that have sent nothing for longest', () => {
  const held = new HeldBytes({ maxHeldBytes: 1_000_000 })
  const [one, two, three] = [1, 2, 3].map(() => backpressure({ held, maxOutboundBytes: 1e9 }))
  void one?.send(450_000)
  void two?.send(450_000)
  one?.leave(1)
  void three?.send(450_000)
  expect([one, two, three].map(each => each?.state.slow.length)).toEqual([0, 1, 0])
  expect(held.isOver).toBe(false)
})
