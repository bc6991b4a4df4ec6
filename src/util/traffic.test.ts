import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { Traffic } from './traffic.ts'

/** A stream that has counted this much. */
class Pipe extends EventEmitter {
  bytesRead = 0
  bytesWritten = 0
}

function sumOf({ received, sent }: Traffic): readonly [received: number, sent: number] {
  return [received, sent]
}

test('the counts of connections are added up on request', () => {
  const traffic = new Traffic()
  const one = new Pipe()
  const other = new Pipe()
  traffic.watch(one)
  traffic.watch(other)
  expect(sumOf(traffic)).toEqual([0, 0])
  Object.assign(one, { bytesRead: 10, bytesWritten: 1 })
  Object.assign(other, { bytesRead: 20, bytesWritten: 2 })
  expect(sumOf(traffic)).toEqual([30, 3])
})

test('connections that have closed count as what they were', () => {
  const traffic = new Traffic()
  const gone = new Pipe()
  traffic.watch(gone)
  Object.assign(gone, { bytesRead: 10, bytesWritten: 1 })
  gone.emit('close')
  const stays = new Pipe()
  stays.bytesRead = 5
  traffic.watch(stays)
  expect(sumOf(traffic)).toEqual([15, 1])
})

test('two streams are one connection, and end apart', () => {
  const traffic = new Traffic()
  const input = new Pipe()
  const output = new Pipe()
  traffic.watch(input, output)
  Object.assign(input, { bytesRead: 10, bytesWritten: 99 })
  Object.assign(output, { bytesRead: 99, bytesWritten: 1 })
  input.emit('close')
  output.bytesWritten = 2
  expect(sumOf(traffic)).toEqual([10, 2])
})

test('a connection that is named twice counts once', () => {
  const traffic = new Traffic()
  const pipe = new Pipe()
  traffic.watch(pipe)
  traffic.watch(pipe)
  Object.assign(pipe, { bytesRead: 10, bytesWritten: 1 })
  pipe.emit('close')
  expect(sumOf(traffic)).toEqual([10, 1])
})

test('streams that do not count are no trouble', () => {
  const traffic = new Traffic()
  traffic.watch(new EventEmitter())
  expect(sumOf(traffic)).toEqual([0, 0])
})
