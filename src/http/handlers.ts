import { type ConnectPages, servedPages } from '../mcp/callers/connect-pages.ts'
import type { Endpoint } from '../mcp/endpoint.ts'
import { isRecord } from '../util/objects.ts'
import { checkOptions, formatValue, type OptionTableOf } from '../util/options.ts'
import { beside, type PathHandler } from './beside.ts'
import type { GivenRequest, HttpHandler, HttpOutboundOptions } from './exchange.ts'
import { serveFetch } from './fetch-handler.ts'
import { type NodeHandler, serveNode } from './node/handler.ts'
import { nodeHost } from './node/host.ts'
import { writeBatch } from './node/write-batch.ts'
import { httpTable, outboundTable } from './option-table.ts'
import type { HttpOptions } from './server/options.ts'
import { HttpService } from './server/service.ts'
import { withPages } from './server/with-pages.ts'

/** Options of a handler that is mounted in an HTTP server of the application. */
export interface HttpHandlerOptions extends HttpOptions, HttpOutboundOptions {
  /**
   * Serves the pages on which users allow a router to act for them: see `connectPages` of `trunkline/auth`, which needs `url`
   * and `login` then. Requests to the path of that URL must reach the handler with their whole path.
   */
  readonly pages?: ConnectPages
  /**
   * Serves further paths beside the server, such as the console: see `consoleOf` of `trunkline/console`. Requests to
   * these paths must reach the handler with their whole path.
   */
  readonly beside?: PathHandler
}

/** The part of a handler that closes it, common to every kind of HTTP server. */
export interface Closable extends AsyncDisposable {
  /**
   * Accepts no further requests, waits up to `drainMs` for those in flight, and ends streams and
   * sessions. Closes neither the HTTP server nor the MCP server, which belong to the application.
   * Idempotent; never rejects.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>
}

/**
 * A handler of the fetch standard. The second argument carries what code in front of the handler knows of
 * the request: the authenticated caller, and what handlers get as `ctx.env`.
 */
export interface FetchHandler extends Closable {
  (request: Request, given?: GivenRequest): Promise<Response>
}

/**
 * Returns a handler that serves an MCP server over `node:http`, Express, Fastify and every framework
 * that passes on Node's request and response: `createServer(nodeHandler(server))`. It serves every path
 * unless `path` names one.
 *
 * Throws a TypeError for invalid options. The handler reads the body itself: mount it ahead of body
 * parsers. Its third argument carries what code in front of it knows of the request: the authenticated
 * caller, and what handlers get as `ctx.env`. A property `principal` of the request identifies the caller too.
 */
export function nodeHandler(
  server: Endpoint,
  options: HttpHandlerOptions = {},
): NodeHandler & Closable {
  check('nodeHandler', server, options)
  const service = serviceOf(server, options)
  const host = nodeHost(options)
  const handler: NodeHandler = (request, response, given) => {
    // Frameworks pass a function there, which continues with the next handler.
    const known = typeof given === 'object' ? given : undefined
    serveNode(service, request, response, host, known)
  }
  return Object.assign(handler, closable(service))
}

/**
 * Returns a handler of the fetch standard that serves an MCP server: for Hono, Next route handlers,
 * Deno, Bun and workers. It serves every path unless `path` names one.
 *
 * The handler cannot know the address its server is bound to, so it accepts only host names of this
 * machine, such as `localhost`; list others in `allowedHosts`. Throws a TypeError for invalid options.
 */
export function fetchHandler(server: Endpoint, options: HttpHandlerOptions = {}): FetchHandler {
  check('fetchHandler', server, options)
  const service = serviceOf(server, options)
  const handler = (request: Request, given?: GivenRequest) =>
    serveFetch(service, request, given, options)
  return Object.assign(handler, closable(service))
}

/** Throws a TypeError for arguments that the compiler has not checked. */
function check(name: string, server: Endpoint, options: HttpHandlerOptions): void {
  const isServer = isRecord(server as unknown) && typeof server.handle === 'function'
  if (!isServer) {
    throw new TypeError(`${name}() expects a Server or a Router, got ${formatValue(server)}`)
  }
  checkOptions(options, table)
  const { path } = options
  if (path !== undefined && !path.startsWith('/')) {
    throw new TypeError(`option "path" must be a path such as "/mcp" (got ${formatValue(path)})`)
  }
}

const table: OptionTableOf<HttpHandlerOptions> = {
  ...httpTable,
  ...outboundTable,
  pages: 'object',
  beside: 'object',
}

/** Makes the handler of requests. Throws a TypeError if its pages could not know whose browser visits them. */
function serviceOf(
  server: Endpoint,
  { pages, beside: part, ...options }: HttpHandlerOptions,
): HttpHandler {
  const main = new HttpService(server, { onError: printError, ...options })
  const service = part === undefined ? main : beside(main, part)
  if (pages === undefined) return service
  servedPages(pages).bind(undefined, [])
  return withPages(service, pages)
}

function closable(service: HttpHandler): Closable {
  // Flushed, so that a caller that closes connections after `close` finds every response written.
  const close: Closable['close'] = options => service.close(options).then(writeBatch.flush)
  return { close, [Symbol.asyncDispose]: () => close() }
}

function printError(error: unknown): void {
  console.error('trunkline: an HTTP request failed:', error)
}
