import { createServer, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { limits } from '../../util/limits/limits.ts'
import type { HttpHandler, OutboundOptions } from '../exchange.ts'
import { PlainConnection, type PlainHost } from './fast-connection.ts'
import { serveNode } from './handler.ts'

/** How long a client may take to say what it wants. What is left out has the default of `docs/limits.md`. */
export interface HttpTimeouts {
  /** How long the headers of a request may take. */
  readonly headersTimeoutMs?: number
  /** How long a whole request may take to arrive. */
  readonly requestTimeoutMs?: number
  /** How long a connection is kept open for a further request. */
  readonly idleTimeoutMs?: number
}

/** A Node server for a service, and its connections. */
export interface NodeServer {
  /** Not listening yet; who started it closes it. */
  readonly server: Server
  /**
   * Closes the connections on which nothing is going on: those that have been answered, and those that a
   * client has opened to have one at hand.
   */
  closeSpares(): void
  /** Cuts every connection. */
  cut(): void
}

/**
 * A Node server for a service. A client that is slow to say what it wants is cut off, and its connection
 * ends when it has been idle for a while.
 */
export function nodeServer(
  service: HttpHandler,
  options: OutboundOptions & HttpTimeouts = {},
): NodeServer {
  const times = timeouts(options)
  /** The answer that was last begun on a connection. */
  const answers = new WeakMap<object, ServerResponse>()
  const server = createServer(times, (request, response) => {
    answers.set(request.socket, response)
    serveNode(service, request, response, options)
  })
  server.on('clientError', (error, socket) => refuseUnreadable(error, socket, answers.get(socket)))
  /** Each connection, and what reads it; undefined once that is Node. */
  const connections = new Map<Socket, PlainConnection | undefined>()
  const read = readersOf(server)
  const host: PlainHost = {
    service,
    outbound: options,
    silentMs: times.headersTimeout,
    idleMs: times.keepAliveTimeout,
    handOver(socket, bytes) {
      connections.set(socket, undefined)
      // Held until somebody reads again, so that what has come first is read first.
      socket.pause()
      socket.unshift(bytes)
      read(socket)
      socket.resume()
    },
  }
  server.on('connection', socket => {
    connections.set(socket, new PlainConnection(socket, host))
    socket.once('close', () => connections.delete(socket))
  })
  return {
    server,
    closeSpares() {
      server.closeIdleConnections()
      for (const [socket, plain] of connections) {
        // Node does not count as idle what has never said anything.
        if (plain === undefined ? socket.bytesRead === 0 : plain.isIdle) socket.destroy()
      }
    },
    cut() {
      for (const socket of connections.keys()) socket.destroy()
    },
  }
}

/** Refuses what cannot be read as HTTP, and so has no reply to answer it with. `answer` was last begun there. */
function refuseUnreadable(error: Error, socket: Duplex, answer: ServerResponse | undefined): void {
  // In the middle of an answer, or ahead of one that waits, these words would be taken for a part of it.
  const isAnswering = answer !== undefined && !answer.writableFinished
  if (!socket.writable || (isAnswering && (answer.headersSent || answer.socket === null))) {
    socket.destroy()
    return
  }
  const status = unreadable.get(codeOf(error)) ?? '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

/** Takes away from a server what reads its connections, to be called when it is wanted. */
function readersOf(server: Server): (socket: Socket) => void {
  const readers = server.listeners('connection')
  server.removeAllListeners('connection')
  return socket => {
    for (const reader of readers) reader.call(server, socket)
  }
}

const unreadable: ReadonlyMap<unknown, string> = new Map([
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
    // How late a timeout may be noticed.
    connectionsCheckingInterval: Math.ceil(Math.min(1000, headersTimeout / 4)),
  } satisfies ServerOptions
}
