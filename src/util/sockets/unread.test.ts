import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Deadlines } from '../time/deadline.ts'
import { endSocket } from './end-socket.ts'
import { HeldBytes } from './held-bytes.ts'
import { UnreadOutput } from './unread.ts'

/** A socket whose peer reads what the test says. */
class FakeSocket extends EventEmitter {
  destroyed = false
  writableLength = 0
  writableFinished = false
  text = ''
  readonly _handle = { bytesWritten: 0, writeQueueSize: 0 }

  /** Writes bytes that stay unsent. */
  put(bytes: number): this {
    this._handle.bytesWritten += bytes
    this._handle.writeQueueSize += bytes
    this.writableLength += bytes
    return this
  }

  /** The peer reads some bytes of one long write. */
  read(bytes: number): void {
    this._handle.writeQueueSize -= bytes
    if (this._handle.writeQueueSize > 0) return
    this.writableLength = 0
    this.emit('drain')
  }

  end(text: string): void {
    this.text += text
  }

  resume(): void {}

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

function setup(held?: HeldBytes) {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock, 1)
  return { clock, deadlines, unread: new UnreadOutput({ stallMs: 400, held, deadlines }) }
}

describe('unread output', () => {
  test('of a peer that reads nothing for the stall time costs it the connection', () => {
    const { clock, unread } = setup()
    const socket = new FakeSocket().put(1000)
    unread.written(socket)
    clock.advance(399)
    expect(socket.destroyed).toBe(false)
    clock.advance(2)
    expect([socket.destroyed, unread.size]).toEqual([true, 0])
  })

  test('of a peer that reads slowly stays, even in the middle of one write', () => {
    const { clock, unread } = setup()
    const socket = new FakeSocket().put(1000)
    unread.written(socket)
    for (let i = 0; i < 9; i++) {
      clock.advance(300)
      socket.read(100)
    }
    expect(socket.destroyed).toBe(false)
    socket.read(100)
    expect([unread.size, socket.listenerCount('drain')]).toEqual([0, 0])
    clock.advance(1000)
    expect(socket.destroyed).toBe(false)
  })

  test('grows by further writes without being taken for progress', () => {
    const { clock, unread } = setup()
    const socket = new FakeSocket()
    for (let i = 0; i < 5; i++) {
      unread.written(socket.put(10))
      clock.advance(100)
    }
    expect(socket.destroyed).toBe(true)
  })

  test('beyond the budget costs those the connection that read nothing for longest', () => {
    const held = new HeldBytes({ maxHeldBytes: 1_000_000 })
    const { clock, unread } = setup(held)
    const [stuck, slow, fresh] = [new FakeSocket(), new FakeSocket(), new FakeSocket()]
    unread.written(stuck.put(500_000))
    unread.written(slow.put(500_000))
    clock.advance(50)
    slow.read(10)
    clock.advance(60)
    unread.written(fresh.put(500_000))
    expect([stuck, slow, fresh].map(({ destroyed }) => destroyed)).toEqual([true, false, false])
    expect(held.isOver).toBe(false)
    slow.destroy()
    fresh.destroy()
    expect(held.total).toBe(0)
  })
})

describe('a budget of held bytes', () => {
  test('refuses what does not fit, and leaves the first bytes of each holder uncounted', () => {
    const held = new HeldBytes({ maxHeldBytes: 100_000 })
    const [one, other] = [held.hold(), held.hold()]
    expect(one.trySet(150_000)).toBe(true)
    expect(other.trySet(65_536)).toBe(true)
    expect(other.trySet(100_000)).toBe(false)
    one.set(0)
    expect(other.trySet(100_000)).toBe(true)
    other.set(0)
    expect(held.total).toBe(0)
  })
})

describe('holdings of unread output', () => {
  test('beyond the budget those are cut that progressed longest ago, but never the latest', () => {
    const held = new HeldBytes({ maxHeldBytes: 1_000_000 })
    const cuts: string[] = []
    const hold = (name: string) => {
      const holding = held.hold(() => {
        cuts.push(name)
        holding.set(0)
      })
      holding.set(400_000)
      return holding
    }
    const [first, second] = [hold('first'), hold('second')]
    first.progressed()
    const third = hold('third')
    expect(cuts).toEqual(['second'])
    third.set(2_000_000)
    expect(cuts).toEqual(['second', 'first'])
    expect(held.isOver).toBe(true)
    // What was released is not cut again.
    second.set(0)
    third.set(0)
    expect([held.total, cuts.length]).toEqual([0, 2])
  })
})

describe('a connection that is ended', () => {
  test('is destroyed a second after everything was sent, if the peer does not close it', () => {
    const { clock, deadlines } = setup()
    const socket = new FakeSocket()
    endSocket(socket, { text: 'bye', deadlines })
    socket.writableFinished = true
    socket.emit('finish')
    expect(socket.text).toBe('bye')
    clock.advance(999)
    expect(socket.destroyed).toBe(false)
    clock.advance(2)
    expect(socket.destroyed).toBe(true)
  })

  test('is destroyed if nothing more can be sent', () => {
    const { clock, deadlines } = setup()
    const socket = new FakeSocket().put(1000)
    endSocket(socket, { deadlines })
    clock.advance(900)
    socket.read(10)
    clock.advance(200)
    expect(socket.destroyed).toBe(false)
    clock.advance(1000)
    expect(socket.destroyed).toBe(true)
  })
})
