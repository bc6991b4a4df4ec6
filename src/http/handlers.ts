import type { Principal } from '../jsonrpc/channel.ts'
import type { Endpoint } from '../mcp/endpoint.ts'
import { checkOptions, type OptionTableOf, shown } from '../util/options.ts'
import { isRecord } from '../util/record.ts'
import type { OutboundOptions } from './exchange.ts'
import { serveFetch } from './fetch-handler.ts'
import { type NodeHandler, serveNode } from './node/handler.ts'
import { departures } from './node/write-batch.ts'
import { httpTable, outboundTable } from './option-table.ts'
import { type HttpOptions, HttpService } from './server/service.ts'

/** How a handler that is mounted in somebody else's HTTP server behaves. */
export interface HttpHandlerOptions extends HttpOptions, OutboundOptions {}

/** What ends with a handler, whatever server it is mounted in. */
export interface Closable extends AsyncDisposable {
  /**
   * Takes nothing more, answers what is in flight within `drainMs`, and ends streams and sessions. The
   * HTTP server stays its owner's, and so does the MCP server. Idempotent; never rejects.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>
}

/** A handler of the fetch standard. Who asks can be told, where something in front has established it. */
export interface FetchHandler extends Closable {
  (request: Request, envelope?: { readonly principal?: Principal }): Promise<Response>
}

/**
 * A server as a handler for `node:http`, Express, Fastify and whatever else hands on Node's request and
 * response: `createServer(nodeHandler(server))`. It answers on any path unless `path` names one.
 *
 * Throws a TypeError for options that mean nothing. It reads the body itself: mount it ahead of
 * body parsers. A member `principal` that something in front has put on the request says who asks.
 */
export function nodeHandler(
  server: Endpoint,
  options: HttpHandlerOptions = {},
): NodeHandler & Closable {
  check(server, options)
  const service = new HttpService(server, { onError: printError, ...options })
  const handler: NodeHandler = (request, response) => {
    serveNode(service, request, response, options)
  }
  return Object.assign(handler, closable(service))
}

/**
 * A server as a handler of the fetch standard: for Hono, the route handlers of Next, Deno, Bun and
 * workers. It answers on any path unless `path` names one.
 *
 * Where it is bound cannot be known here, so it answers only under names of this machine, such as
 * `localhost`: name others in `allowedHosts`. Throws a TypeError for options that mean nothing.
 */
export function fetchHandler(server: Endpoint, options: HttpHandlerOptions = {}): FetchHandler {
  check(server, options)
  const service = new HttpService(server, { onError: printError, ...options })
  const handler = (request: Request, envelope?: { readonly principal?: Principal }) =>
    serveFetch(service, request, envelope?.principal, options)
  return Object.assign(handler, closable(service))
}

/** Throws a TypeError for what callers that the compiler never saw may have written. */
function check(server: Endpoint, options: HttpHandlerOptions): void {
  const isServer = isRecord(server as unknown) && typeof server.handle === 'function'
  if (!isServer) throw new TypeError(`what is served is a server, not ${shown(server)}`)
  checkOptions(options, table)
  const { path } = options
  if (path !== undefined && !path.startsWith('/')) {
    throw new TypeError(`the option "path" is a path such as "/mcp", not ${shown(path)}`)
  }
}

const table: OptionTableOf<HttpHandlerOptions> = { ...httpTable, ...outboundTable }

function closable(service: HttpService): Closable {
  // Whoever closes connections as soon as this has ended is to find everything written.
  const close: Closable['close'] = options => service.close(options).then(departures.flush)
  return { close, [Symbol.asyncDispose]: () => close() }
}

function printError(error: unknown): void {
  console.error('trunkline: a request over HTTP failed:', error)
}
