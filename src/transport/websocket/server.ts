import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  STATUS_CODES,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { type Channel, ChannelError } from '../../jsonrpc/channel.ts'
import { limits } from '../../util/limits/limits.ts'
import { headerValues, originRefusal, reachedAt } from '../../util/origin.ts'
import type { Traffic } from '../../util/traffic.ts'
import {
  bind,
  boundTo,
  type Listener,
  limitConnections,
  placeOf,
  serverListener,
} from '../listener.ts'
import { upgrader, type WebSocketOptions } from './connect.ts'

export interface AcceptWebSocketOptions extends WebSocketOptions {
  /** The path where WebSockets are opened; any other is answered 404. By default `/`. */
  readonly path?: string
  /** Further `Host` values that are this server, such as the name of a proxy in front of it. */
  readonly allowedHosts?: readonly string[]
  /** Web pages that may connect, such as `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[]
  readonly maxConnections?: number
  /** Told of each connection that was refused, and of those that could not be accepted. */
  readonly onError?: (error: Error) => void
}

/** The same on a server of their own. */
export interface ListenWebSocketOptions extends AcceptWebSocketOptions {
  /** Counts what passes. */
  readonly traffic?: Traffic
}

/** The WebSockets of one HTTP server and path. */
export interface WebSockets {
  /** The channels that are open now. */
  readonly channels: ReadonlySet<Channel>
  /** Takes no more upgrades; the channels there are live on. */
  stop(): void
}

/**
 * Accepts WebSockets on an HTTP server, and hands each to `accept` as a channel that is not open
 * yet. The server stays its owner's: it is neither started nor closed here.
 *
 * Who may connect is decided before the handshake: a foreign `Host` or `Origin` is answered 403,
 * another path 404, one connection too many 503.
 */
export function acceptWebSockets(
  server: HttpServer,
  options: AcceptWebSocketOptions,
  accept: (channel: Channel) => void,
): WebSockets {
  const channels = new Set<Channel>()
  const upgrade = upgrader(options)
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const refusal = refusalOf(request, server, channels.size, options)
    if (refusal !== undefined) {
      refuse(socket, refusal.status)
      options.onError?.(refusal.error)
      return
    }
    upgrade(request, socket, head, channel => {
      channels.add(channel)
      socket.once('close', () => channels.delete(channel))
      accept(channel)
    })
  }
  server.on('upgrade', onUpgrade)
  return { channels, stop: () => void server.off('upgrade', onUpgrade) }
}

/**
 * Listens for WebSockets on an HTTP server of its own; plain requests are answered 426. The host
 * `localhost` means 127.0.0.1. Rejects with a ChannelError `'refused'` that names the address.
 */
export async function listenWebSocket(
  url: URL,
  options: ListenWebSocketOptions,
  accept: (channel: Channel) => void,
): Promise<Listener> {
  if (url.protocol !== 'ws:') {
    throw new ChannelError(
      'refused',
      `listening on ${url.href}: TLS is for a proxy in front; listen on ws:`,
    )
  }
  const server = createServer(timeouts, (_, response) => {
    response.writeHead(426, { upgrade: 'websocket', connection: 'close' }).end()
  })
  await bind(server, url.href, placeOf(url))
  server.on('error', error => options.onError?.(error))
  limitConnections(server, options.maxConnections, options.onError)
  server.on('connection', socket => options.traffic?.watch(socket))
  const { channels } = acceptWebSockets(server, { ...options, path: url.pathname }, accept)
  const address = `ws://${boundTo(server)}${url.pathname}`
  return serverListener(server, address, {
    channels: () => channels,
    // What is left are requests that have not become WebSockets.
    cut: () => server.closeAllConnections(),
  })
}

const timeouts = {
  headersTimeout: limits.handshakeMs.default,
  requestTimeout: limits.handshakeMs.default,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 1000,
}

interface Refusal {
  readonly status: 403 | 404 | 431 | 503
  readonly error: ChannelError
}

function refusalOf(
  request: IncomingMessage,
  server: HttpServer,
  connections: number,
  options: AcceptWebSocketOptions,
): Refusal | undefined {
  const { path = '/', maxConnections = limits.connections.default } = options
  // Node leaves out what is beyond its own, larger limit: nobody could be sure of the rest.
  if (request.rawHeaders.length > limits.httpHeaderFields.default * 2) {
    return refusal(431, 'it has too many headers')
  }
  const target = request.url ?? ''
  const hosts = headerValues(request.rawHeaders, 'host')
  const origins = [
    ...headerValues(request.rawHeaders, 'origin'),
    // Where drafts of the protocol, which ws still speaks, put it.
    ...headerValues(request.rawHeaders, 'sec-websocket-origin'),
  ]
  const site = request.headers['sec-fetch-site']?.toString()
  const asked = { hosts, origins, target, site }
  const foreign = originRefusal(asked, { ...reachedAt(request.socket), ...options })
  if (foreign !== undefined) return refusal(403, foreign)
  if (target.split('?', 1)[0] !== path) return refusal(404, `there is no ${target}`)
  if (connections >= maxConnections) return refusal(503, `there are ${connections} already`)
  if (!server.listening) return refusal(503, 'the server is closing')
  return undefined
}

function refusal(status: Refusal['status'], why: string): Refusal {
  const code = status === 503 ? 'too-many' : 'refused'
  return { status, error: new ChannelError(code, `a WebSocket was refused: ${why}`) }
}

function refuse(socket: Duplex, status: Refusal['status']): void {
  // The other side may be gone already, and nobody else listens for that.
  socket.on('error', () => socket.destroy())
  socket.once('finish', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  )
}
