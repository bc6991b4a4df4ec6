import { expect, test } from 'vitest'
import { FakeReply } from '../../../test/support/http.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { OpenStreams } from './sse-keep-alive.ts'

function open() {
  const clock = fakeClock()
  const streams = new OpenStreams(1000, clock)
  const reply = new FakeReply()
  const stream = streams.open(reply, { a: 'b' })
  return { clock, streams, reply, stream }
}

test('a silent stream gets a comment, and one that is not gets none', () => {
  const { clock, reply, stream } = open()
  clock.advance(1000)
  expect(reply.text).toBe(': \n\n')
  void stream.write('data: x\n\n')
  clock.advance(1000)
  expect(reply.text).toBe(': \n\ndata: x\n\n')
  clock.advance(1000)
  expect(reply.text).toBe(': \n\ndata: x\n\n: \n\n')
})

test('a stream that has ended, or whose client has disconnected, is forgotten, and the timer stops', () => {
  const { clock, streams, reply, stream } = open()
  const other = new FakeReply()
  streams.open(other, {})
  expect(streams.size).toBe(2)
  stream.end()
  expect([streams.size, reply.isEnded]).toEqual([1, true])
  other.leave()
  expect(streams.size).toBe(0)
  clock.advance(1000)
  expect([other.text, clock.pending]).toEqual(['', 0])
})

test('streams that end at once share one timer, and a later one is kept open in time', () => {
  const { clock, streams, stream } = open()
  stream.end()
  for (let i = 0; i < 100; i++) {
    streams.open(new FakeReply(), {}).end()
    expect(clock.pending).toBe(1)
  }
  clock.advance(900)
  const late = new FakeReply()
  streams.open(late, {})
  clock.advance(1000)
  expect(late.text).toBe(': \n\n')
  clock.advance(1000)
  expect(late.text).toBe(': \n\n: \n\n')
})

test('all of them end together', () => {
  const { clock, streams, reply } = open()
  streams.end()
  expect([streams.size, reply.isEnded, clock.pending]).toEqual([0, true, 0])
})
