import { once } from 'node:events'
import { createServer } from 'node:net'

/** Resolves to a port of the loopback interface that nobody listens on. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
