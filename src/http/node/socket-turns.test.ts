import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { spendRequest, spendTurn } from './socket-turns.ts'

test('a socket rests until the next turn, even if it is resumed meanwhile', async () => {
  const socket = new Socket().resume()
  spendTurn(socket, limits.turnBytes.default - 1)
  expect(socket.isPaused()).toBe(false)
  spendTurn(socket, 1)
  // As Node does after each chunk of a body.
  socket.resume()
  expect(socket.isPaused()).toBe(true)
  await new Promise(resolve => setImmediate(resolve))
  expect(socket.isPaused()).toBe(false)
  socket.destroy()
})

test('a client that sends far too many requests ahead is noticed', async () => {
  const socket = new Socket().resume()
  const { default: most } = limits.httpPipelinedRequests
  const spend = (count: number) => Array.from({ length: count }, () => spendRequest(socket))
  // The last of these lets the socket rest.
  expect(spend(64 + most - 1)).not.toContain(false)
  expect(spendRequest(socket)).toBe(false)
  await new Promise(resolve => setImmediate(resolve))
  expect(spendRequest(socket)).toBe(true)
  socket.destroy()
})
