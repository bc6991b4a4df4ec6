import { describe, expect, test } from 'vitest'
import { fakeClock } from '../../../testing/fake-clock.ts'
import { limits } from '../../../util/limits/limits.ts'
import { EventLog, type EventLogOptions } from './event-log.ts'

function log(options: EventLogOptions = {}) {
  const clock = fakeClock()
  return { clock, log: new EventLog(options, clock) }
}

function data(stream: { after(sequence: number): readonly { data: string }[] }, sequence = 0) {
  return stream.after(sequence).map(event => event.data)
}

describe('the log of a stream', () => {
  test('returns the events after another', () => {
    const stream = log().log.stream()
    expect(['a', 'b', 'c'].map(one => stream.add(one))).toEqual([1, 2, 3])
    expect(data(stream, 1)).toEqual(['b', 'c'])
    expect(data(stream, 3)).toEqual([])
    expect([0, 1, 3, 4].map(at => stream.canReplayFrom(at))).toEqual([true, true, true, false])
  })

  test.each([
    ['events', { maxStreamEvents: 2 }],
    ['bytes', { maxStreamBytes: 500 }],
    ['bytes of all streams', { maxBytes: 500 }],
  ])(
    'drops the oldest when there are too many %s, and reports which events can be replayed',
    (_, options) => {
      const stream = log(options).log.stream()
      for (const one of ['a', 'b', 'c', 'd']) stream.add(one)
      expect(data(stream)).toEqual(['c', 'd'])
      expect([1, 2, 4].map(at => stream.canReplayFrom(at))).toEqual([false, true, true])
    },
  )

  test('does not keep an event that is too large, nor anything before it', () => {
    const stream = log({ maxStreamBytes: 500 }).log.stream()
    stream.add('a')
    expect(stream.add('x'.repeat(500))).toBe(2)
    expect(stream.size).toBe(0)
    expect([stream.canReplayFrom(1), stream.canReplayFrom(2)]).toEqual([false, true])
  })

  test('counts text of two bytes a character twice', () => {
    const { log: all } = log()
    all.stream().add('aaaa')
    const narrow = all.bytes
    all.stream().add('жжжж')
    expect(all.bytes - narrow).toBe(narrow + 4)
  })

  test('drops the oldest event of any stream when all together are too large', () => {
    const { log: all } = log({ maxBytes: 700 })
    const [first, second] = [all.stream(), all.stream()]
    first.add('1')
    second.add('2')
    first.add('3')
    second.add('4')
    expect([data(first), data(second)]).toEqual([['3'], ['2', '4']])
    expect(all.bytes).toBeLessThanOrEqual(700)
  })

  test('drops events that are too old, with one timer for all', () => {
    const { log: all, clock } = log({ maxAgeMs: 1000 })
    const emptied: string[] = []
    const [first, second] = [all.stream(() => emptied.push('first')), all.stream()]
    first.add('a')
    clock.advance(600)
    second.add('b')
    expect(clock.pending).toBe(1)
    clock.advance(600)
    expect([data(first), data(second), emptied]).toEqual([[], ['b'], ['first']])
    clock.advance(600)
    expect([data(second), all.bytes]).toEqual([[], 0])
  })

  test('has the limits of the table', () => {
    const { log: all, clock } = log()
    const stream = all.stream()
    for (let i = 0; i <= limits.streamEvents.default; i++) stream.add('x')
    expect(stream.size).toBe(limits.streamEvents.default)
    const large = 'x'.repeat(limits.streamBytes.default / 2)
    const streams = Array.from({ length: 129 }, () => all.stream())
    for (const one of streams) one.add(large)
    for (const one of streams) one.add(large)
    expect(streams[128]?.size).toBe(1)
    expect(all.bytes).toBeLessThanOrEqual(limits.eventLogBytes.default)
    expect(all.bytes).toBeGreaterThan(limits.eventLogBytes.default - large.length * 2)
    clock.advance(limits.eventAgeMs.default + 16)
    expect(all.bytes).toBe(0)
  })

  test('can be cleared, and frees what it held', () => {
    const { log: all } = log()
    const [first, second] = [all.stream(), all.stream()]
    for (let i = 0; i < 3; i++) {
      first.add('a')
      second.add('b')
    }
    first.clear()
    expect([data(first), data(second)]).toEqual([[], ['b', 'b', 'b']])
    second.clear()
    expect(all.bytes).toBe(0)
  })
})
