import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Closable,
  fetchHandler,
  type HttpHandlerOptions,
  nodeHandler,
} from '../../src/http/index.ts'
import type { Router } from '../../src/router/router.ts'
import { serveOnLoopback } from '../../src/testing/dev-issuer/node-listener.ts'

/** The handlers by which a program serves a router in an HTTP server of its own. */
export type HandlerKind = 'nodeHandler' | 'fetchHandler'

/** Starts an HTTP server of a program. `serve` makes the handler, once the address is known. */
export async function embedding(kind: HandlerKind) {
  let handler: Closable | undefined
  if (kind === 'fetchHandler') {
    let handle = async (_: Request): Promise<Response> => new Response(null, { status: 503 })
    let at = ''
    const server = await serveOnLoopback('http://127.0.0.1:0', origin => {
      at = origin
      return { handle: request => handle(request) }
    })
    return {
      origin: at,
      serve: (router: Router, options: HttpHandlerOptions) => {
        const made = fetchHandler(router, options)
        handle = made
        handler = made
      },
      close: async () => {
        await handler?.close()
        await server.close()
      },
    }
  }
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The check: a TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    serve: (router: Router, options: HttpHandlerOptions) => {
      const made = nodeHandler(router, options)
      server.on('request', made)
      handler = made
    },
    close: async () => {
      await handler?.close()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
