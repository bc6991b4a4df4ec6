// Lets a few clients run at a time where the suite starts all of them at once.

import { once } from 'node:events'
import { createServer } from 'node:net'

/** As many clients run at a time. More would wait for each other, and for the suite, until requests time out. */
const together = 4

/** The connections of clients in the order of their start: the first ones have their turn. */
const clients = new Set()

const server = createServer(socket => {
  clients.add(socket)
  // The turn of a client lasts until its process exits.
  socket
    .on('error', () => {})
    .on('close', () => {
      clients.delete(socket)
      begin()
    })
  begin()
})

function begin() {
  for (const socket of [...clients].slice(0, together)) socket.write('go')
}

let listening

/** Resolves to the port at which clients wait for their turn. */
export async function turnsPort() {
  listening ??= once(server.listen(0, '127.0.0.1').unref(), 'listening')
  await listening
  return server.address().port
}
