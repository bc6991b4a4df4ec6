import { announce } from './methods.js'

/** Longer than any run: connections are idle while others have their turn. */
export const idleMs = 3_600_000

/** Puts a Node server on a free port of the loopback, and tells the parent which. */
export function listenHttp(server) {
  server.keepAliveTimeout = idleMs
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
    announce(server.address().port),
  )
}
