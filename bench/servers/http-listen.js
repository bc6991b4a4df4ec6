import { announce } from './methods.js'

/** Longer than any run, because connections are idle while other contestants run. */
export const idleMs = 3_600_000

/** Listens with a Node server on a free loopback port, and reports the port to the parent process. */
export function listenHttp(server) {
  server.keepAliveTimeout = idleMs
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
    announce(server.address().port),
  )
}
