import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { limits } from '../../util/limits/limits.ts'
import { headerValues, reachedAt } from '../../util/origin.ts'
import type { Ops, OpsRequest } from './health.ts'

/** An address of its own for `/healthz`, `/readyz` and `/metrics`. */
export interface OpsListener extends AsyncDisposable {
  /** Where it listens, with the port really bound: `http://127.0.0.1:9464`. */
  readonly address: string
  /** Ends it, connections included. Idempotent. */
  close(): Promise<void>
}

/**
 * Serves nothing but the paths of `ops` on an address of its own, such as `http://127.0.0.1:9464`: what
 * operators see need not be where clients come in. Rejects for an address that is no `http:`, and with
 * Node's own error for one that cannot be bound. It does not keep a process alive.
 */
export async function listenOps(ops: Ops, address: string): Promise<OpsListener> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'http:') {
    throw new TypeError(
      `listening on ${address}: an address such as http://127.0.0.1:9464 is needed`,
    )
  }
  const server = createServer(timeouts, (request, response) => {
    // Bodies mean nothing here; one that is not read would hold up the connection.
    request.resume()
    ops.handle(requestOf(request), {
      send: (status, headers, body = '') => send(response, status, headers, body),
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
  // The check: a server that listens on a host and a port has such an address.
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
    asked: () => ({
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
