import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { PassThrough, type Readable, Writable } from 'node:stream'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { pollOptions } from '../../../test/support/poll-options.ts'
import type { Channel } from '../../jsonrpc/channel.ts'
import type { Decoded, Message } from '../../jsonrpc/message.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import type { FramingName } from '../../wire/frame.ts'
import { type StreamOptions, streamChannel } from './stream.ts'

/** An output that remembers what it was given; `take` says when a write is done with. */
class Recorder extends Writable {
  readonly writes: Buffer[] = []
  take: (done: (error?: Error) => void) => void = done => done()

  override _write(chunk: Buffer, _: string, done: (error?: Error) => void): void {
    this.writes.push(chunk)
    this.take(done)
  }

  get text(): string {
    return Buffer.concat(this.writes).toString()
  }
}

interface Life {
  readonly channel: Channel
  readonly arrivals: Decoded[]
  readonly ends: (Error | undefined)[]
}

function live(
  readable: Readable,
  writable: Writable,
  options: StreamOptions = {},
  react: (arrival: Decoded, channel: Channel) => void = () => {},
): Life {
  const life: Life = {
    channel: streamChannel(readable, writable, options),
    arrivals: [],
    ends: [],
  }
  life.channel.open({
    receive: arrival => {
      life.arrivals.push(arrival)
      react(arrival, life.channel)
    },
    closed: cause => {
      life.ends.push(cause)
    },
  })
  return life
}

const note = (method: string): Message => ({ type: 'notification', method })
const line = (method: string): string => `{"jsonrpc":"2.0","method":"${method}"}\n`
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
const code = (value: string) => expect.objectContaining({ code: value })

afterEach(() => {
  vi.useRealTimers()
})

describe('sending', () => {
  test('gathers what is sent in one tick, also by promises, into one write', async () => {
    const output = new Recorder()
    const { channel } = live(new PassThrough(), output)
    void channel.send(note('a'))
    void channel.send([note('b'), note('c')])
    expect(output.writes).toHaveLength(0)
    await turn()
    expect(output.writes).toHaveLength(1)
    void Promise.resolve().then(() => channel.send(note('d')))
    void Promise.resolve().then(() => channel.send(note('e')))
    await turn()
    expect(output.writes).toHaveLength(2)
    const batch = `[${line('b').trim()},${line('c').trim()}]\n`
    expect(output.text).toBe(line('a') + batch + line('d') + line('e'))
  })

  test('lets a write go as soon as enough has gathered', () => {
    const output = new Recorder()
    const { channel } = live(new PassThrough(), output, { coalesceBytes: 3 * line('x').length })
    for (let i = 0; i < 7; i++) void channel.send(note('x'))
    expect(output.writes.map(write => write.length)).toEqual(Array(2).fill(3 * line('x').length))
  })

  test('lets the answers to a chunk go when the chunk is done', async () => {
    const output = new Recorder()
    const input = new PassThrough()
    const counts: number[] = []
    live(input, output, {}, (_, channel) => {
      void channel.send(note('answer'))
      counts.push(output.writes.length)
    })
    input.on('data', () => counts.push(output.writes.length))
    input.write(line('a') + line('b'))
    await vi.waitFor(() => expect(counts).toEqual([0, 0, 1]), pollOptions)
  })

  test.each<FramingName>(['lines', 'length', 'headers'])(
    'keeps the order of small and large messages framed by %s',
    async framing => {
      const pipe = new PassThrough()
      const { channel } = live(new PassThrough(), pipe, { framing })
      const reader = live(pipe, new PassThrough(), { framing })
      const sizes = [1, 300_000, 1, 70_000, 2_000, 64 * 1024, 1, 150_000, 5]
      const messages = sizes.map(
        (size, i): Message => ({ type: 'result', id: i, result: 'é'.repeat(size) }),
      )
      for (const message of messages) void channel.send(message)
      await vi.waitFor(() => expect(reader.arrivals).toHaveLength(sizes.length), pollOptions)
      expect(reader.arrivals).toEqual(messages)
    },
  )

  test('refuses a message that is not JSON, sends nothing of it and stays usable', async () => {
    const output = new Recorder()
    const { channel, ends } = live(new PassThrough(), output)
    const loop: Record<string, unknown> = {}
    loop.self = loop
    for (const result of [loop, 1n]) {
      expect(() => channel.send({ type: 'result', id: 1, result })).toThrow(code('unserialisable'))
    }
    expect(() => channel.send([])).toThrow(TypeError)
    void channel.send(note('fine'))
    await turn()
    expect(output.text).toBe(line('fine'))
    expect(ends).toEqual([])
  })
})

describe('a reader that does not keep up', () => {
  const limits = { highWaterBytes: 1000, maxOutboundBytes: 5000 }

  test('makes senders wait and lets them go on', async () => {
    const output = new Recorder()
    const waiting: (() => void)[] = []
    output.take = done => waiting.push(done)
    const { channel } = live(new PassThrough(), output, limits)
    expect(channel.send(note('small'))).toBeUndefined()
    const room = channel.send(note('x'.repeat(2000)))
    expect(room).toBeInstanceOf(Promise)
    output.take = done => done()
    await turn()
    waiting[0]?.()
    await room
    expect(channel.send(note('small'))).toBeUndefined()
  })

  test('closes the channel at the limit, with what it holds bounded', async () => {
    const output = new Recorder()
    output.take = () => {}
    const { channel, ends } = live(new PassThrough(), output, limits)
    let sent = 0
    const rooms: (void | Promise<void>)[] = []
    const flood = (): void => {
      for (;;) {
        rooms.push(channel.send(note('x'.repeat(100))))
        sent++
      }
    }
    expect(flood).toThrow(code('too-slow'))
    expect(sent * 100).toBeLessThan(6000)
    expect(ends).toEqual([])
    await turn()
    expect(ends).toEqual([code('too-slow')])
    expect(() => channel.send(note('late'))).toThrow(code('closed'))
    await expect(rooms.at(-1)).rejects.toEqual(code('too-slow'))
    expect(output.destroyed).toBe(true)
  })

  test('closes the channel when it takes nothing for the stall time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const output = new Recorder()
    output.take = () => {}
    const { channel, ends } = live(new PassThrough(), output, { ...limits, stallMs: 50 })
    void channel.send(note('x'.repeat(2000)))
    vi.advanceTimersByTime(49)
    await turn()
    expect(ends).toEqual([])
    vi.advanceTimersByTime(1)
    await turn()
    expect(ends).toEqual([code('too-slow')])
  })

  test('is a socket that reads nothing: the unsent bytes stay within the limit', async () => {
    await using wire = await sockets()
    wire.far.pause()
    const { channel, ends } = live(wire.near, wire.near, { maxOutboundBytes: 1 << 20 })
    const before = process.memoryUsage().rss
    const large = note('x'.repeat(100_000))
    const flood = async (): Promise<void> => {
      for (;;) {
        void channel.send(large)
        await turn()
      }
    }
    await expect(flood()).rejects.toEqual(code('too-slow'))
    await vi.waitFor(() => expect(ends).toEqual([code('too-slow')]), pollOptions)
    expect(process.memoryUsage().rss - before).toBeLessThan(200 << 20)
  })
})

describe('the end of the input', () => {
  test('is reported at once, while responses are still sent until the channel is closed', async () => {
    const input = new PassThrough()
    const output = new Recorder()
    const { channel, arrivals, ends } = live(input, output)
    input.end(line('a') + line('b'))
    await vi.waitFor(() => expect(ends).toEqual([undefined]), pollOptions)
    expect(arrivals).toHaveLength(2)
    expect(output.writableEnded).toBe(false)
    void channel.send(note('late answer'))
    await channel.close()
    expect(output.text).toBe(line('late answer'))
    expect(output.writableFinished).toBe(true)
    expect(ends).toEqual([undefined])
  })

  test('by our own refusal leaves time for the answer to arrive', async () => {
    await using wire = await sockets()
    const received: Buffer[] = []
    wire.far.on('data', (chunk: Buffer) => received.push(chunk))
    const far = once(wire.far, 'close')
    const channel = streamChannel(wire.near, wire.near, { decode: { maxBytes: 100 } })
    const arrivals: Decoded[] = []
    channel.open({
      receive: arrival => {
        arrivals.push(arrival)
        void channel.send(note('answer'))
      },
      closed: () => void channel.close(),
    })
    // Far more than the kernel takes unread: without reading on, the connection would be reset.
    wire.far.end('x'.repeat(8 << 20))
    await far
    expect(arrivals).toMatchObject([{ type: 'invalid', reason: 'too-large' }])
    expect(Buffer.concat(received).toString()).toBe(line('answer'))
  })
})

describe('a stream that fails', () => {
  test('as the output: senders are rejected, the last input is read, then it is reported once', async () => {
    const input = new PassThrough()
    const output = new Recorder()
    const failure = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
    output.take = done => done(failure)
    const { channel, arrivals, ends } = live(input, output, { highWaterBytes: 1 })
    const room = channel.send(note('into the void'))
    input.write(line('last words'))
    await expect(room).rejects.toMatchObject({ code: 'closed', cause: failure })
    expect(() => channel.send(note('more'))).toThrow(code('closed'))
    await vi.waitFor(() => expect(ends).toHaveLength(1), pollOptions)
    expect(arrivals).toHaveLength(1)
    expect(ends[0]).toMatchObject({ code: 'closed', cause: failure })
    await channel.close()
    expect(ends).toHaveLength(1)
    expect(input.destroyed).toBe(true)
  })

  test('as the output, while the input ends normally: is reported then, with the cause', async () => {
    const clock = fakeClock()
    const input = new PassThrough()
    const output = new Recorder()
    const { ends } = live(input, output, { clock })
    output.destroy(new Error('gone'))
    input.end()
    await turn()
    await turn()
    expect(ends).toEqual([expect.objectContaining({ message: 'sending: gone' })])
    expect(clock.pending).toBe(0)
  })

  test('as the input: ends both', async () => {
    const input = new PassThrough()
    const output = new Recorder()
    const { channel, ends } = live(input, output)
    input.destroy(new Error('bad cable'))
    await vi.waitFor(() => expect(ends).toHaveLength(1), pollOptions)
    expect(ends[0]).toMatchObject({ code: 'closed', message: 'reading: bad cable' })
    expect(() => channel.send(note('a'))).toThrow(code('closed'))
    expect(output.destroyed).toBe(true)
  })

  test('by being destroyed without an error: is reported with a cause', async () => {
    const input = new PassThrough()
    const { ends } = live(input, new Recorder())
    input.destroy()
    await vi.waitFor(() => expect(ends).toEqual([code('closed')]), pollOptions)
  })

  test('before the channel is opened: is reported when it is', async () => {
    const input = new PassThrough()
    const channel = streamChannel(input, new Recorder())
    input.destroy(new Error('too early'))
    await turn()
    const closed = new Promise<Error | undefined>(resolve =>
      channel.open({ receive: () => {}, closed: resolve }),
    )
    expect(await closed).toMatchObject({ message: 'reading: too early' })
  })

  test.each([
    ['ended', undefined],
    ['destroyed', code('closed')],
  ])('or was %s long before: is reported when it is opened', async (how, cause) => {
    const input = new PassThrough()
    if (how === 'ended') input.resume().end()
    else input.destroy()
    await once(input, 'close')
    const { ends } = live(input, new Recorder())
    expect(ends).toEqual([])
    await turn()
    expect(ends).toEqual([cause])
  })

  test('is a socket that was reset: no error goes unhandled', async () => {
    await using wire = await sockets()
    const { channel, ends } = live(wire.near, wire.near)
    wire.far.resetAndDestroy()
    await vi.waitFor(() => expect(ends).toHaveLength(1), pollOptions)
    expect(ends[0]).toMatchObject({ code: 'closed', cause: { code: 'ECONNRESET' } })
    expect(() => channel.send(note('a'))).toThrow(code('closed'))
    await channel.close()
  })
})

describe('closing', () => {
  test('sends the accepted messages, ends the output, and reports once, however often it is called', async () => {
    const input = new PassThrough()
    const output = new Recorder()
    const { channel, ends } = live(input, output)
    void channel.send(note('x'.repeat(200_000)))
    void channel.send(note('last'))
    await Promise.all([channel.close(), channel.close(), channel[Symbol.asyncDispose]()])
    expect(output.text).toBe(line('x'.repeat(200_000)) + line('last'))
    expect(output.writableFinished).toBe(true)
    expect(input.destroyed).toBe(true)
    await turn()
    expect(ends).toEqual([undefined])
    expect(() => channel.send(note('late'))).toThrow(code('closed'))
  })

  test('delivers nothing more', async () => {
    const input = new PassThrough()
    const { channel, arrivals } = live(input, new Recorder())
    const closing = channel.close()
    input.write(line('late'))
    await closing
    expect(arrivals).toEqual([])
  })

  test('rejects senders that wait for room', async () => {
    const { channel } = live(new PassThrough(), new Recorder(), { highWaterBytes: 10 })
    const room = channel.send(note('x'.repeat(100)))
    void channel.close()
    await expect(room).rejects.toEqual(code('closed'))
  })

  test('gives up on a reader that takes nothing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const output = new Recorder()
    output.take = () => {}
    const { channel, ends } = live(new PassThrough(), output)
    void channel.send(note('a'))
    const closing = channel.close()
    await vi.advanceTimersByTimeAsync(999)
    expect(output.destroyed).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await closing
    await turn()
    expect(output.destroyed).toBe(true)
    expect(ends).toEqual([undefined])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('waits longer for one that takes little by little, but not for ever', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const output = new Recorder()
    output.take = done => setTimeout(done, 900)
    const { channel } = live(new PassThrough(), output)
    void channel.send(note('x'.repeat(5 << 20)))
    let closed = false
    const closing = channel.close().then(() => {
      closed = true
    })
    await vi.advanceTimersByTimeAsync(9000)
    expect(closed).toBe(false)
    await vi.advanceTimersByTimeAsync(3000)
    await closing
    expect(output.destroyed).toBe(true)
  })

  test('before opening works, and opening afterwards only reports the end', async () => {
    const channel = streamChannel(new PassThrough(), new Recorder())
    await channel.close()
    const closed = new Promise<Error | undefined>(resolve =>
      channel.open({ receive: () => {}, closed: resolve }),
    )
    expect(await closed).toBeUndefined()
  })

  test('can be done from within the notice that the input ended', async () => {
    const input = new PassThrough()
    const output = new Recorder()
    const channel = streamChannel(input, output)
    const done = new Promise<void>(resolve => {
      channel.open({ receive: () => {}, closed: () => resolve(channel.close()) })
    })
    input.end()
    await done
    expect(output.writableFinished).toBe(true)
  })

  test.each(['closed by us', 'ended by the input', 'failed', 'leaveOpen'])(
    'leaves no listener behind: %s',
    async how => {
      const input = new PassThrough()
      const output = new Recorder()
      const counts = (): number[] =>
        [input, output].flatMap(stream =>
          ['data', 'end', 'error', 'close', 'drain', 'finish'].map(name =>
            stream.listenerCount(name),
          ),
        )
      const before = counts()
      const { channel } = live(input, output, { leaveOpen: how === 'leaveOpen' })
      void channel.send(note('a'))
      if (how === 'ended by the input') input.end()
      if (how === 'failed') output.destroy(new Error('x'))
      await turn()
      await channel.close()
      expect(counts()).toEqual(before)
      expect([input.destroyed, output.destroyed]).toEqual(Array(2).fill(how !== 'leaveOpen'))
    },
  )

  test('gives leaveOpen streams back unharmed, with everything sent', async () => {
    const input = new PassThrough()
    const output = new Recorder()
    const first = live(input, output, { leaveOpen: true })
    void first.channel.send(note('first'))
    await first.channel.close()
    const second = live(input, output, { leaveOpen: true })
    void second.channel.send(note('second'))
    input.write(line('hello'))
    await vi.waitFor(() => expect(second.arrivals).toHaveLength(1), pollOptions)
    await second.channel.close()
    expect(output.text).toBe(line('first') + line('second'))
  })
})

/** Two ends of one TCP connection, half-open like those of a listener. */
async function sockets(): Promise<AsyncDisposable & { near: Socket; far: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The check: a server that listens on a host has an AddressInfo.
  const far = dial((server.address() as AddressInfo).port, '127.0.0.1')
  const [near] = (await once(server, 'connection')) as [Socket]
  for (const socket of [near, far]) socket.on('error', () => {})
  server.close()
  return {
    near,
    far,
    [Symbol.asyncDispose]: async () => {
      near.destroy()
      far.destroy()
    },
  }
}
