import type { Socket } from 'node:net'
import { limits } from '../../util/limits/limits.ts'

/** The time that a request takes at least, as the number of bytes that take as long to read. */
export const requestCost = 1024

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
    socket.resume()
  })
}

interface Turn {
  spent: number
  isResting: boolean
}

const turns = new WeakMap<Socket, Turn>()

function watch(socket: Socket): Turn {
  const turn = { spent: 0, isResting: false }
  turns.set(socket, turn)
  const resume = socket.resume.bind(socket)
  // Node resumes the socket after each chunk of a body, which would end the rest before it began.
  socket.resume = () => (turn.isResting ? socket : resume())
  return turn
}
