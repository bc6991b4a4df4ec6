import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { limits } from '../../util/limits/limits.ts'
import { OAuthProblem, problemResponse } from './oauth-response.ts'

/** What answers the requests to a listener. */
export interface RequestService {
  handle(request: Request): Promise<Response>
}

/** A listener on this machine. */
export interface LoopbackListener<S> {
  readonly service: S
  close(): Promise<void>
}

/**
 * Answers the requests to an address of this machine by the service that `serviceAt` makes for its origin. Those with another `Host` are refused, so that no website can
 * reach it under a name of its own.
 */
export async function serveOnLoopback<S extends RequestService>(
  address: string,
  serviceAt: (origin: string) => S,
): Promise<LoopbackListener<S>> {
  const { hostname, port } = new URL(address)
  const server = createServer()
  const host = hostname === 'localhost' ? '127.0.0.1' : hostname.replace(/^\[|\]$/g, '')
  server.listen(Number(port || 80), host)
  await once(server, 'listening')
  // The check: a TCP server that listens has an address with a port.
  const origin = new URL(`http://${hostname}:${(server.address() as AddressInfo).port}`).origin
  const service = serviceAt(origin)
  server.on('request', (request, response) => {
    respond(request, response, new URL(origin), service).catch(() => response.destroy())
  })
  return {
    service,
    close: async () => {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  origin: URL,
  service: RequestService,
): Promise<void> {
  const response =
    incoming.headers.host === origin.host
      ? await requestOf(incoming, origin).then(request => service.handle(request), problemResponse)
      : problemResponse(new OAuthProblem('invalid_request', 'unknown host', { status: 403 }))
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.end(await response.text())
}

async function requestOf(incoming: IncomingMessage, origin: URL): Promise<Request> {
  const { method = 'GET', url = '/' } = incoming
  const headers = new Headers()
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const body = method === 'POST' ? await bodyOf(incoming) : undefined
  return new Request(new URL(url, origin), { method, headers, ...(body !== undefined && { body }) })
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    size += chunk.length
    if (size > limits.devIssuerBodyBytes.default)
      throw new OAuthProblem('invalid_request', 'the body is too large', { status: 413 })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
