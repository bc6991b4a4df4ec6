import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { createServer as createSecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TlsOptions } from 'node:tls'
import { limits } from '../../util/limits/limits.ts'
import { formatValue } from '../../util/options.ts'
import { endSocket } from '../../util/sockets/end-socket.ts'
import type { HttpHandler, HttpOutboundOptions } from '../exchange.ts'
import { FastConnection, type FastHost } from './fast-connection.ts'
import { serveNode } from './handler.ts'
import { type NodeHost, nodeHost } from './host.ts'
import { spendRequest } from './socket-turns.ts'

/** Timeouts of an HTTP listener. A timeout that is left out has the default of `docs/limits.md`. */
export interface HttpTimeouts {
  /** Time in which the headers of a request must arrive. */
  readonly headersTimeoutMs?: number
  /** Time in which a whole request must arrive. */
  readonly requestTimeoutMs?: number
  /** Time for which an idle connection is kept open for another request. */
  readonly idleTimeoutMs?: number
}

/** Options of an HTTP listener that concern its connections. */
export interface HttpServerOptions extends HttpTimeouts {
  /**
   * What parses HTTP/1.1 requests. `'fast'`, the default, serves requests that arrive in one chunk and
   * use only common headers with a strict parser, at about half the CPU cost, and hands every other
   * connection over to `node:http`. With `'node'`, `node:http` parses every request.
   */
  readonly parser?: 'fast' | 'node'
}

/** What a server needs to speak TLS. */
export interface NodeTls {
  /** `createServer` of `node:https`, which plain servers need not load. */
  readonly createServer: typeof createSecureServer
  readonly options: TlsOptions
}

/** A Node server for a service, and its connections. */
export interface NodeServer {
  /** Not listening yet. The caller of `nodeServer` starts and closes it. */
  readonly server: Server
  /** The event of the server that brings each connection on which requests can be sent. */
  readonly ready: 'connection' | 'secureConnection'
  /** From now on closes each connection after its next response, which announces that. */
  retire(): void
  /** Closes idle connections: those whose last response is complete, and those that sent no request. */
  closeIdle(): void
  /** Destroys every connection. */
  cut(): void
}

/**
 * Makes a Node server for a service. The server closes a connection whose request arrives too slowly, and
 * a connection that has been idle for `idleTimeoutMs`. Throws a TypeError for an unknown `parser`.
 */
export function nodeServer(
  service: HttpHandler,
  options: HttpOutboundOptions &
    HttpServerOptions &
    Partial<Pick<NodeHost, 'held' | 'isProxy'>> = {},
  tls?: NodeTls,
): NodeServer {
  const times = timeouts(options)
  let isRetired = false
  const shared = nodeHost(options, options)
  /** The response last begun on a connection. */
  const responses = new WeakMap<object, ServerResponse>()
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request
    // The connection is ending: an earlier request was refused on it, or this one was too slow.
    if (socket.writableEnded || socket.destroyed) return
    responses.set(socket, response)
    if (!spendRequest(socket)) {
      socket.destroy()
      return
    }
    if (isRetired) response.shouldKeepAlive = false
    serveNode(service, request, response, shared)
  }
  const server: Server =
    tls === undefined
      ? createServer(times, onRequest)
      : tls.createServer({ ...times, ...tls.options }, onRequest)
  const ready = tls === undefined ? 'connection' : 'secureConnection'
  server.on('clientError', (error, socket) => {
    rejectUnparsable(error, socket, responses.get(socket))
  })
  /** Every connection with its fast path; undefined once `node:http` parses the connection. */
  const connections = new Map<Socket, FastConnection | undefined>()
  const nodeParser = usesFastParser(options) ? takeConnectionListeners(server, ready) : undefined
  const host: FastHost | undefined = nodeParser && {
    ...shared,
    service,
    isRetired: false,
    headersMs: times.headersTimeout,
    idleMs: times.keepAliveTimeout,
    handOver(socket, bytes) {
      connections.set(socket, undefined)
      // Paused until the parser is attached, so that the bytes that came first are read first.
      socket.pause()
      socket.unshift(bytes)
      nodeParser(socket)
      socket.resume()
    },
  }
  server.on(ready, (socket: Socket) => {
    if (socket.destroyed) return
    connections.set(socket, host && new FastConnection(socket, host))
    socket.once('close', () => connections.delete(socket))
  })
  /** The connections under TLS, some of which may never complete the handshake. */
  const carriers = new Set<Socket>()
  if (tls !== undefined) {
    server.on('connection', socket => {
      carriers.add(socket)
      socket.once('close', () => carriers.delete(socket))
    })
  }
  return {
    server,
    ready,
    retire() {
      isRetired = true
      if (host !== undefined) host.isRetired = true
      for (const socket of connections.keys()) {
        const response = responses.get(socket)
        if (response?.headersSent === false) response.shouldKeepAlive = false
      }
    },
    closeIdle() {
      server.closeIdleConnections()
      for (const [socket, connection] of connections) {
        if (connection !== undefined) connection.closeIfIdle()
        // Node does not count a connection as idle that has never sent anything.
        else if (socket.bytesRead === 0) socket.destroy()
      }
    },
    cut() {
      for (const socket of connections.keys()) socket.destroy()
      for (const socket of carriers) socket.destroy()
    },
  }
}

function usesFastParser({ parser = 'fast' }: HttpServerOptions): boolean {
  if (parser === 'fast' || parser === 'node') return parser === 'fast'
  throw new TypeError(`option "http.parser" must be "fast" or "node" (got ${formatValue(parser)})`)
}

/**
 * Rejects bytes that `node:http` cannot parse, for which there is no response object. `response` is the
 * one last begun on the same connection.
 */
function rejectUnparsable(
  error: Error,
  socket: Duplex,
  response: ServerResponse | undefined,
): void {
  // Written in the middle of a response, or ahead of one that is queued, this text would be taken for a part of it.
  const isResponding = response !== undefined && !response.writableFinished
  if (!socket.writable || (isResponding && (response.headersSent || response.socket === null))) {
    socket.destroy()
    return
  }
  const status = statusByCode.get(codeOf(error)) ?? '400 Bad Request'
  const text = `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`
  endSocket(socket, { text })
}

/**
 * Removes the listeners of a server by which `node:http` parses connections, and returns a function that
 * calls them for one socket. `server.test.ts` checks that the running Node works this way.
 */
function takeConnectionListeners(
  server: Server,
  ready: 'connection' | 'secureConnection',
): (socket: Socket) => void {
  const listeners = server.listeners(ready)
  server.removeAllListeners(ready)
  return socket => {
    for (const listener of listeners) listener.call(server, socket)
  }
}

const statusByCode: ReadonlyMap<unknown, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

function codeOf(error: Error): unknown {
  return 'code' in error ? error.code : undefined
}

function timeouts(options: HttpTimeouts) {
  const requestTimeout = options.requestTimeoutMs ?? limits.httpRequestMs.default
  const headersTimeout = Math.min(
    options.headersTimeoutMs ?? limits.httpHeadersMs.default,
    requestTimeout || Number.POSITIVE_INFINITY,
  )
  return {
    requestTimeout,
    headersTimeout,
    keepAliveTimeout: options.idleTimeoutMs ?? limits.httpIdleMs.default,
    // How late Node may notice a timeout.
    connectionsCheckingInterval: Math.ceil(Math.min(1000, headersTimeout / 4)),
  } satisfies ServerOptions
}
