import { createServer } from 'node:http'
import { beside } from '../http/beside.ts'
import type { HttpHandler } from '../http/exchange.ts'
import { serveNode } from '../http/node/handler.ts'
import { nodeHost } from '../http/node/host.ts'
import { bind, boundAddress, hostAndPort } from '../transport/listener.ts'
import { limits } from '../util/limits/limits.ts'
import type { Console } from './console.ts'

/** A listener that serves only a console. */
export interface ConsoleListener {
  /** The address with the actual port: `http://127.0.0.1:9091`. */
  readonly address: string
  /** Closes the listener and its connections. Idempotent. */
  close(): Promise<void>
}

/** Serves a console alone at an address. Rejects with a ChannelError `'refused'` for one that cannot be bound. */
export async function listenConsole(console: Console, address: string): Promise<ConsoleListener> {
  const url = new URL(address)
  const handler = beside(nothing, console)
  const host = nodeHost({})
  const server = createServer(
    {
      headersTimeout: limits.httpHeadersMs.default,
      requestTimeout: limits.httpRequestMs.default,
      keepAliveTimeout: limits.httpIdleMs.default,
    },
    (request, response) => serveNode(handler, request, response, host),
  )
  server.maxConnections = limits.opsConnections.default
  await bind(server, address, hostAndPort(url))
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= new Promise(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
    return closing
  }
  return { address: `http://${boundAddress(server)}`, close }
}

/** Answers all other paths. */
const nothing: HttpHandler = {
  handle: (_, reply) =>
    reply.send(404, { 'content-type': 'text/plain' }, 'The console is at /console/\n'),
  drain: async () => {},
  close: async () => {},
}
