import type { Socket } from 'node:net'
import { limits } from '../../util/limits/limits.ts'

/** The time that a request takes at least, as the number of bytes that take as long to read. */
const requestCost = 1024

/** The same of a chunk of a body, which a client can make as small as one byte. */
export const chunkCost = 16

/**
 * Counts what was read from a socket that `node:http` parses, and lets reading rest until the next turn
 * of the event loop after `turnBytes`. Node would read and parse 2 MiB of one connection before it
 * serves others.
 */
export function spendTurn(socket: Socket, cost: number): void {
  const turn = turns.get(socket) ?? watch(socket)
  turn.spent += cost
  if (turn.spent < limits.turnBytes.default || turn.isResting) return
  turn.spent = 0
  if (socket.isPaused()) return
  turn.isResting = true
  socket.pause()
  setImmediate(() => {
    turn.isResting = false
    turn.ahead = 0
    socket.resume()
  })
}

/**
 * Counts a request. Returns false if the socket should rest and its client has sent too many requests
 * ahead: `node:http` parses all requests of a chunk in one turn, whether the socket rests or not.
 */
export function spendRequest(socket: Socket): boolean {
  spendTurn(socket, requestCost)
  const turn = turns.get(socket)
  return turn?.isResting !== true || ++turn.ahead <= limits.httpPipelinedRequests.default
}

interface Turn {
  spent: number
  isResting: boolean
  /** The requests that arrived while the socket rests. */
  ahead: number
}

const turns = new WeakMap<Socket, Turn>()

function watch(socket: Socket): Turn {
  const turn = { spent: 0, isResting: false, ahead: 0 }
  turns.set(socket, turn)
  const resume = socket.resume.bind(socket)
  // Node resumes the socket after each chunk of a body, which would end the rest before it began.
  socket.resume = () => (turn.isResting ? socket : resume())
  return turn
}
