import type { Channel } from '../../jsonrpc/channel.ts'
import { Server } from '../../server/server.ts'
import { memoryPair } from '../../transport/memory.ts'

/**
 * Opens the connection that the router itself has to a server for which it has no credentials: to a server of this
 * process that lists nothing and always responds. Calls never use it: each caller has connections of its own.
 */
export function unlistedServer(): Channel {
  const [near, far] = memoryPair()
  new Server({ name: 'unlisted', version: '1.0.0' }).attach(far)
  return near
}
