import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

const collectors = new AsyncLocalStorage<(socket: Socket) => void>()

subscribe('net.client.socket', message => {
  const collect = collectors.getStore()
  if (collect === undefined) return
  // The check: Node documents that messages of this channel have the socket.
  collect((message as { readonly socket: Socket }).socket)
})

/**
 * Runs an action and collects the sockets that it opens, now or later. This is how an attempt to connect can be ended
 * whose package has no way to do it, and keeps the socket when an engine accepts a connection and then says nothing.
 */
export function collectingSockets<T>(collect: (socket: Socket) => void, action: () => T): T {
  return collectors.run(collect, action)
}
