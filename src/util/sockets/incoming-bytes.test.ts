import { describe, expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../limits/limits.ts'
import { Deadlines } from '../time/deadline.ts'
import { HeldBytes } from './held-bytes.ts'
import { IncomingBytes } from './incoming-bytes.ts'

const KiB = 1024
const MiB = 1024 * KiB

function setup(maxHeldBytes = 10 * MiB) {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock, 1)
  const held = new HeldBytes({ maxHeldBytes, heldWaitMs: 1000 })
  const events: string[] = []
  const open = (name: string): IncomingBytes =>
    new IncomingBytes(
      held,
      {
        pause: () => void events.push(`${name} waits`),
        proceed: () => void events.push(`${name} proceeds`),
        refuse: () => void events.push(`${name} is refused`),
      },
      deadlines,
    )
  return { clock, held, events, open }
}

describe('an incomplete message', () => {
  test('takes room for all of it as soon as it is larger than what never counts', () => {
    const { held, open } = setup()
    const message = open('a')
    message.set(64 * KiB, 4 * MiB)
    expect(held.total).toBe(0)
    message.set(65 * KiB, 4 * MiB)
    expect(held.total).toBe(4.5 * MiB)
    message.set(4.5 * MiB, 4 * MiB)
    expect(held.total).toBe(4.5 * MiB)
    message.set(5 * MiB, 4 * MiB)
    expect(held.total).toBe(5 * MiB - 64 * KiB)
    message.clear()
    expect(held.total).toBe(0)
  })

  test('waits for room, and is read when others are complete, in the order of arrival', () => {
    const { events, open } = setup()
    const [a, b, c, d] = [open('a'), open('b'), open('c'), open('d')]
    for (const message of [a, b, c, d]) message.set(MiB, 4 * MiB)
    expect(events).toEqual(['c waits', 'd waits'])
    a.clear()
    expect(events.slice(2)).toEqual(['c proceeds'])
    b.clear()
    expect(events.slice(3)).toEqual(['d proceeds'])
  })

  test('does not overtake one that waits, unless it is small', () => {
    const { events, open } = setup()
    open('a').set(MiB, 7 * MiB)
    open('b').set(MiB, 4 * MiB)
    open('c').set(MiB, MiB)
    open('d').set(60 * KiB, MiB)
    expect(events).toEqual(['b waits', 'c waits'])
  })

  test('is refused when there was no room for too long', () => {
    const { clock, events, open } = setup()
    open('a').set(MiB, 10 * MiB)
    open('b').set(MiB, MiB)
    clock.advance(999)
    expect(events).toEqual(['b waits'])
    clock.advance(2)
    expect(events).toEqual(['b waits', 'b is refused'])
  })

  test('is refused at once when too many wait', () => {
    const { events, open } = setup()
    open('a').set(MiB, 10 * MiB)
    for (let i = 0; i < limits.heldWaiting.default; i++) open('b').set(MiB, MiB)
    open('last').set(MiB, MiB)
    expect(events.at(-1)).toBe('last is refused')
  })

  test('that alone may exceed the budget is read if nothing else is held', () => {
    const { events, open } = setup(MiB)
    const message = open('a')
    message.set(100 * KiB, 4 * MiB)
    expect(events).toEqual([])
    message.set(900 * KiB, 4 * MiB)
    open('b').set(MiB, MiB)
    expect(events).toEqual(['b waits'])
    message.set(2 * MiB, 4 * MiB)
    expect(events.slice(1)).toContain('a is refused')
  })

  test('that takes far more memory than its length is refused', () => {
    const { events, open } = setup()
    const message = open('a')
    message.set(MiB, 4 * MiB)
    message.set(9 * MiB, 4 * MiB)
    expect(events).toEqual([])
    message.set(11 * MiB, 4 * MiB)
    expect(events).toEqual(['a is refused'])
  })

  test('whose connection closes while it waits leaves nothing behind', () => {
    const { clock, held, events, open } = setup()
    const first = open('a')
    first.set(MiB, 10 * MiB)
    const waiting = open('b')
    waiting.set(MiB, 4 * MiB)
    waiting.clear()
    expect(held.hasWaiting).toBe(false)
    first.clear()
    clock.advance(5000)
    expect([held.total, events]).toEqual([0, ['b waits', 'b proceeds']])
  })
})

describe('many small messages', () => {
  test('count when all of them together are large', () => {
    const { held, events, open } = setup()
    const { default: free } = limits.uncountedTotalBytes
    for (let i = 0; i < free / (64 * KiB); i++) open('a').set(64 * KiB, MiB)
    expect(held.total).toBe(0)
    for (let i = 0; i < (10 * MiB) / (64 * KiB); i++) open('b').set(64 * KiB, MiB)
    expect([held.total, events]).toEqual([10 * MiB, []])
    open('c').set(64 * KiB, MiB)
    expect(events).toEqual(['c waits'])
  })
})
