import { describe, expect, test } from 'vitest'
import { linkReports } from '../../../test/fuzz/link-reports.ts'
import { Recorded } from '../../../test/support/links.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import type { ByteSocket, ByteSocketEvents } from '../../transport/psk/byte-socket.ts'
import { LinkFrameBatch, linkFrameKinds } from '../../wire/link-frames.ts'
import { writeHello } from './hello.ts'
import { OutgoingLink } from './outgoing.ts'
import { type LinkSettings, linkLimits } from './settings.ts'

const [near, far] = ['1'.repeat(16), '2'.repeat(16)]
const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** A link over a socket that only records what is written. */
class Dialled {
  readonly clock = fakeClock()
  readonly settings: LinkSettings = {
    node: near,
    cluster: 'test',
    clock: this.clock,
    limits: linkLimits,
  }
  readonly link: OutgoingLink
  /** What was written, one item for each write. */
  readonly writes: Uint8Array[] = []
  unsent = 0
  state = 'open'
  #events: ByteSocketEvents | undefined

  constructor() {
    const { writes } = this
    const socket: ByteSocket = {
      unsent: 0,
      start: events => {
        this.#events = events
      },
      write: bytes => writes.push(bytes),
      end: () => {
        this.state = 'ended'
      },
      destroy: () => {
        this.state = 'destroyed'
      },
    }
    Object.defineProperty(socket, 'unsent', { get: () => this.unsent })
    this.link = new OutgoingLink(
      { node: far, address: 'tcp://127.0.0.1:1' },
      this.settings,
      connected => {
        queueMicrotask(connected)
        return socket
      },
      { ended: () => {}, closed: () => {} },
    )
  }

  /** Receives frames. */
  receive(add: (batch: LinkFrameBatch) => void): void {
    const batch = new LinkFrameBatch()
    add(batch)
    this.#events?.data(batch.take())
  }

  greet(): void {
    const hello = writeHello({ ...this.settings, node: far }, near)
    this.receive(batch => batch.text(linkFrameKinds.hello, 0, hello, 4096))
  }

  drain(): void {
    this.unsent = 0
    this.#events?.drained()
  }

  closed(reason?: string): void {
    this.#events?.closed(reason)
  }

  /** What was written since the last call, as reports of frames. */
  take(): readonly string[] {
    return linkReports(this.writes.splice(0), 1 << 20)
  }
}

async function opened(): Promise<Dialled> {
  const dialled = new Dialled()
  await nextTurn()
  dialled.greet()
  dialled.take()
  return dialled
}

describe('what is sent', () => {
  test('nothing but HELLO before the other node has answered', async () => {
    const dialled = new Dialled()
    const stream = dialled.link.open('head', new Recorded())
    void stream.send(Buffer.from('data'))
    stream.end()
    await nextTurn()
    expect(dialled.take()).toEqual([expect.stringMatching(/^1 0 \{"version":1,/)])
    dialled.greet()
    await nextTurn()
    expect(dialled.take()).toEqual(['2 1 head', 'data 1 data', '5 1 '])
    expect(dialled.state).toBe('open')
  })

  test('frames of one turn leave in one write', async () => {
    const dialled = await opened()
    for (let at = 0; at < 50; at++)
      void dialled.link.open('x', new Recorded()).send(Buffer.alloc(100))
    await Promise.resolve()
    dialled.receive(batch => batch.signal(linkFrameKinds.ping, 0))
    expect(dialled.writes).toHaveLength(0)
    await nextTurn()
    expect(dialled.writes).toHaveLength(1)
    expect(dialled.take()).toHaveLength(101)
  })

  test('long data is split, and streams take turns when the connection is slow', async () => {
    const dialled = await opened()
    const streams = [new Recorded(), new Recorded()].map(seen => dialled.link.open('', seen))
    await nextTurn()
    dialled.take()
    dialled.unsent = 2 << 20
    const sent = streams.map(stream => stream.send(Buffer.alloc(130 * 1024)))
    expect(sent).toEqual([expect.any(Promise), expect.any(Promise)])
    expect(dialled.take()).toEqual([])
    dialled.drain()
    await nextTurn()
    const order = dialled.take().map(report => [report.slice(0, 6), report.length - 7])
    expect(order).toEqual([
      ['data 1', 65_536],
      ['data 2', 65_536],
      ['data 1', 65_536],
      ['data 2', 65_536],
      ['data 1', 2048],
      ['data 2', 2048],
    ])
    await Promise.all(sent)
  })
})

describe('whether a stream can have reached the other node', () => {
  test('it cannot while its frames are collected', async () => {
    const dialled = await opened()
    const [first, second] = [new Recorded(), new Recorded()]
    dialled.link.open('a', first)
    await nextTurn()
    dialled.link.open('b', second)
    const request = dialled.link.request('c', 1000)
    const rejected = expect(request).rejects.toMatchObject({ code: 'refused' })
    dialled.closed('it closed the connection')
    await Promise.all([first.over, second.over, rejected])
    const why = `the link to node ${far} at tcp://127.0.0.1:1 ended: it closed the connection`
    expect(first.events).toEqual([`failed lost: ${why}`])
    expect(second.events).toEqual([`failed refused: ${why}`])
    expect(dialled.take()).toEqual(['2 1 a'])
    expect(dialled.clock.pending).toBe(0)
  })

  test('it can when the end of the link was sent behind it', async () => {
    const dialled = await opened()
    const seen = new Recorded()
    dialled.link.open('a', seen)
    dialled.link.close('enough', 'refused')
    await seen.over
    expect(seen.events).toEqual([expect.stringMatching(/^failed lost: /)])
    expect(dialled.take()).toEqual(['2 1 a', '6 0 enough'])
  })
})

describe('a mistake of the other node', () => {
  test.each<[what: string, add: (batch: LinkFrameBatch) => void, reason: string]>([
    [
      'a stream that it opens',
      b => b.text(linkFrameKinds.open, 2, '', 9),
      'only the node that has dialled opens streams',
    ],
    [
      'a request',
      b => b.text(linkFrameKinds.request, 2, '', 9),
      'only the node that has dialled opens streams',
    ],
    ['a second HELLO', b => b.text(linkFrameKinds.hello, 0, '{}', 9), 'a second HELLO came'],
    [
      'an end without a stream',
      b => b.signal(linkFrameKinds.end, 0),
      'a frame of kind 5 names no stream',
    ],
    [
      'a long frame',
      b => b.data(1, Buffer.alloc((1 << 20) + 1), 0, (1 << 20) + 1),
      'a frame has 1048577 bytes, the limit is 1048576',
    ],
  ])('%s ends the link', async (_, add, reason) => {
    const dialled = await opened()
    const seen = new Recorded()
    dialled.link.open('', seen)
    await nextTurn()
    dialled.take()
    dialled.receive(add)
    await seen.over
    expect(seen.events).toEqual([expect.stringMatching(/^failed lost: /)])
    expect(dialled.take()).toEqual([`6 0 ${reason}`])
    expect([dialled.state, dialled.clock.pending]).toEqual(['ended', 0])
  })

  test.each<[what: string, add: (batch: LinkFrameBatch) => void, reason: string]>([
    [
      'more data than its credit',
      b => b.data(1, Buffer.alloc(300 * 1024), 0, 300 * 1024),
      'more data came than the credit allows',
    ],
    [
      'data after the end',
      b => {
        b.signal(linkFrameKinds.end, 1)
        b.data(1, Buffer.alloc(1), 0, 1)
      },
      'data came after the end',
    ],
  ])('%s resets the stream, and the link stays', async (_, add, reason) => {
    const dialled = await opened()
    const seen = new Recorded()
    dialled.link.open('', seen)
    await nextTurn()
    dialled.take()
    dialled.receive(add)
    await nextTurn()
    expect(seen.events.at(-1)).toBe(`failed reset: ${reason}`)
    expect(dialled.take()).toEqual([`6 1 ${reason}`])
    expect(dialled.state).toBe('open')
  })

  test('frames of streams that are not open are ignored', async () => {
    const dialled = await opened()
    dialled.receive(batch => {
      batch.data(7, Buffer.alloc(10), 0, 10)
      batch.text(linkFrameKinds.head, 7, 'x', 9)
      batch.text(linkFrameKinds.reply, 7, 'x', 9)
      batch.text(linkFrameKinds.reset, 7, 'x', 9)
      batch.credit(7, 9)
      batch.signal(linkFrameKinds.end, 7)
      batch.signal(linkFrameKinds.pong, 0)
    })
    await nextTurn()
    expect([dialled.state, dialled.take()]).toEqual(['open', []])
  })
})

test('a process that was stopped does not give up a link that works', async () => {
  const dialled = await opened()
  // The timer of a process that was stopped fires once, however late, before anything can be read.
  for (let at = 0; at < 10; at++) dialled.clock.advance(linkLimits.pingMs)
  dialled.receive(batch => batch.signal(linkFrameKinds.pong, 0))
  dialled.clock.advance(linkLimits.pingMs)
  expect(dialled.state).toBe('open')
  dialled.clock.advance(linkLimits.silentMs)
  expect(dialled.state).toBe('ended')
})
