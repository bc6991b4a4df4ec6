import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { limits } from '../../util/limits/limits.ts'
import { headerValues, reachedAt } from '../../util/origin.ts'
import { UnreadOutput } from '../../util/sockets/unread.ts'
import type { Ops, OpsRequest } from './health.ts'

/** A listener that serves only `/healthz`, `/readyz` and `/metrics`. */
export interface OpsListener extends AsyncDisposable {
  /** The address with the actual port: `http://127.0.0.1:9464`. */
  readonly address: string
  /** Closes the listener and its connections. Idempotent. */
  close(): Promise<void>
}

/**
 * Serves only the paths of `ops` on a separate address, such as `http://127.0.0.1:9464`, so that operators
 * and clients can use different addresses. Rejects with a TypeError for an address that is not `http:`, and
 * with Node's error for one that cannot be bound. The listener does not keep the process alive.
 */
export async function listenOps(ops: Ops, address: string): Promise<OpsListener> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'http:') {
    throw new TypeError(
      `listening on ${address}: the address must be an http: URL, such as http://127.0.0.1:9464`,
    )
  }
  const unread = new UnreadOutput()
  const server = createServer(timeouts, (request, response) => {
    // Bodies are ignored, but an unread body would block the connection.
    request.resume()
    ops.handle(requestOf(request), {
      send: (status, headers, body = '') => {
        send(response, status, headers, body)
        if (response.socket !== null) unread.written(response.socket)
      },
    })
  })
  server.maxConnections = limits.opsConnections.default
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port: Number(url.port || 80) }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  server.unref()
  // The check: a server that listens on a host and a port has an AddressInfo.
  const { port } = server.address() as AddressInfo
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= new Promise(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
    return closing
  }
  return { address: `http://${url.hostname}:${port}`, close, [Symbol.asyncDispose]: close }
}

const timeouts = {
  headersTimeout: limits.httpHeadersMs.default,
  requestTimeout: limits.httpRequestMs.default,
  keepAliveTimeout: limits.httpIdleMs.default,
}

function requestOf(request: IncomingMessage): OpsRequest {
  const target = request.url ?? '/'
  const [path = '/'] = target.split('?', 1)
  const site = request.headers['sec-fetch-site']
  return {
    method: request.method ?? '',
    path,
    origin: () => ({
      hosts: headerValues(request.rawHeaders, 'host'),
      origins: headerValues(request.rawHeaders, 'origin'),
      target,
      site: typeof site === 'string' ? site : undefined,
    }),
    local: () => reachedAt(request.socket),
  }
}

function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}
