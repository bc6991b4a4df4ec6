import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Channel, ChannelError } from '../../jsonrpc/channel.ts'
import { limits } from '../../util/limits/limits.ts'
import { headerValues, originRefusal, reachedAt } from '../../util/origin.ts'
import { endSocket } from '../../util/sockets/end-socket.ts'
import { HeldBytes, type HeldBytesOptions } from '../../util/sockets/held-bytes.ts'
import type { Traffic } from '../../util/traffic.ts'
import {
  bind,
  boundAddress,
  type ConnectionLimits,
  hostAndPort,
  type Listener,
  limitConnections,
  serverListener,
} from '../listener.ts'
import type { TlsOptions } from '../tls/certificate.ts'
import type { ServerTls } from '../tls/server.ts'
import { trustedProxies } from '../trusted-proxies.ts'
import { upgrader, type WebSocketOptions } from './connect.ts'

/** Options of `acceptWebSockets`. */
export interface AcceptWebSocketOptions
  extends WebSocketOptions,
    ConnectionLimits,
    HeldBytesOptions {
  /** The path of the WebSocket endpoint; any other path is answered 404. `/` by default. */
  readonly path?: string
  /** Further `Host` values that are accepted, such as the name of a reverse proxy. */
  readonly allowedHosts?: readonly string[]
  /** Origins of web pages that may connect, such as `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[]
  /**
   * Decides about a handshake before it is answered: returns what guards the channel, or the status and the
   * headers of the refusal.
   */
  readonly authenticate?: (request: IncomingMessage) => Promise<HandshakeOutcome>
  /** Called for each connection that was refused or could not be accepted. */
  readonly onError?: (error: Error) => void
}

/** The outcome of authenticating a handshake. */
export type HandshakeOutcome =
  | {
      /** Absent: the handshake is accepted. */
      readonly status?: undefined
      /** Returns the channel that the endpoint gets, which knows its caller. */
      guard(channel: Channel): Channel
    }
  | {
      /** The status of the response that refuses the handshake. */
      readonly status: number
      /** The headers of that response. */
      readonly headers: Readonly<Record<string, string>>
    }

/** Options of `listenWebSocket`. */
export interface ListenWebSocketOptions extends AcceptWebSocketOptions {
  /** Counts the bytes received and sent. */
  readonly traffic?: Traffic
  /** The certificate for `wss:`. */
  readonly tls?: TlsOptions
}

/** The WebSockets of one HTTP server and path. */
export interface WebSockets {
  /** The open channels. */
  readonly channels: ReadonlySet<Channel>
  /** Accepts no further upgrades; existing channels stay open. */
  stop(): void
}

/**
 * Accepts WebSockets on an HTTP server, and passes each to `accept` as a channel that is not open yet.
 * The caller owns the server: it is neither started nor closed here.
 *
 * Requests are checked before the handshake: a foreign `Host` or `Origin` is answered 403, another path
 * 404, and a connection over the limit 503.
 */
export function acceptWebSockets(
  server: HttpServer,
  options: AcceptWebSocketOptions,
  accept: (channel: Channel) => void,
): WebSockets {
  const channels = new Set<Channel>()
  const upgrade = upgrader({
    ...options,
    isProxy: options.trustedProxies && trustedProxies(options.trustedProxies),
    held: options.held ?? new HeldBytes(options),
  })
  /** The response last begun on a connection. */
  const responses = new WeakMap<object, ServerResponse>()
  const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
    void responses.set(request.socket, response)
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Written ahead of a pending response to a pipelined request, the handshake would be taken for it.
    if (responses.get(socket)?.writableFinished === false) {
      socket.destroy()
      return
    }
    const refusal = refusalOf(request, server, channels.size, options)
    if (refusal !== undefined) {
      refuse(socket, refusal.status)
      options.onError?.(refusal.error)
      return
    }
    const begin = (guard?: (channel: Channel) => Channel): void =>
      upgrade(request, socket, head, channel => {
        channels.add(channel)
        socket.once('close', () => channels.delete(channel))
        accept(guard === undefined ? channel : guard(channel))
      })
    if (options.authenticate === undefined) begin()
    else void admit(options.authenticate(request), socket, begin)
  }
  server.on('request', onRequest)
  server.on('upgrade', onUpgrade)
  const stop = (): void => void server.off('upgrade', onUpgrade).off('request', onRequest)
  return { channels, stop }
}

/**
 * Listens for WebSockets on its own HTTP server; plain requests are answered 426. The host
 * `localhost` means 127.0.0.1. Rejects with a ChannelError `'refused'` that names the address.
 */
export async function listenWebSocket(
  url: URL,
  options: ListenWebSocketOptions,
  accept: (channel: Channel) => void,
): Promise<Listener> {
  const onRequest = (_: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(426, { upgrade: 'websocket', connection: 'close' }).end()
  }
  const tls = url.protocol === 'wss:' ? await readTls(url, options) : undefined
  const server =
    tls === undefined
      ? createServer(timeouts, onRequest)
      : tls.createServer({ ...timeouts, ...tls.options }, onRequest)
  /** Every connection, also those that never become WebSockets. */
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  limitConnections(server, options)
  await bind(server, url.href, hostAndPort(url))
  server.on('error', error => options.onError?.(error))
  const ready = tls === undefined ? 'connection' : 'secureConnection'
  server.on(ready, socket => options.traffic?.watch(socket))
  const { channels } = acceptWebSockets(server, { ...options, path: url.pathname }, accept)
  const address = `${url.protocol}//${boundAddress(server)}${url.pathname}`
  const listener = serverListener(server, address, {
    channels: () => channels,
    destroy: () => {
      for (const socket of sockets) socket.destroy()
    },
  })
  return { ...listener, reload: tls?.renew(server) }
}

async function readTls(
  { href }: URL,
  { tls, onError }: ListenWebSocketOptions,
): Promise<ServerTls> {
  const { tlsFor } = await import('../tls/server.ts')
  return tlsFor(href, tls, onError)
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
  // Node.js drops headers beyond its own, larger limit, so the rest could not be trusted.
  if (request.rawHeaders.length > limits.httpHeaderFields.default * 2) {
    return refusal(431, 'too many headers')
  }
  const target = request.url ?? ''
  const hosts = headerValues(request.rawHeaders, 'host')
  const origins = [
    ...headerValues(request.rawHeaders, 'origin'),
    // Drafts of the protocol, which ws still supports, use this header.
    ...headerValues(request.rawHeaders, 'sec-websocket-origin'),
  ]
  const site = request.headers['sec-fetch-site']?.toString()
  const origin = { hosts, origins, target, site }
  const foreign = originRefusal(origin, { ...reachedAt(request.socket), ...options })
  if (foreign !== undefined) return refusal(403, foreign)
  if (target.split('?', 1)[0] !== path) return refusal(404, `no WebSocket endpoint at ${target}`)
  if (connections >= maxConnections)
    return refusal(503, `${connections} connections are open already`)
  if (!server.listening) return refusal(503, 'the server is closing')
  return undefined
}

/** Begins a WebSocket once its caller is authenticated, or refuses it. */
async function admit(
  deciding: Promise<HandshakeOutcome>,
  socket: Duplex,
  begin: (guard: (channel: Channel) => Channel) => void,
): Promise<void> {
  const ignore = (): void => {}
  socket.on('error', ignore)
  const outcome = await deciding
  socket.off('error', ignore)
  if (socket.destroyed) return
  if (outcome.status === undefined) begin(channel => outcome.guard(channel))
  else refuse(socket, outcome.status, outcome.headers)
}

function refusal(status: Refusal['status'], reason: string): Refusal {
  const code = status === 503 ? 'too-many' : 'refused'
  return { status, error: new ChannelError(code, `refused a WebSocket: ${reason}`) }
}

function refuse(
  socket: Duplex,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`
  const all = { ...headers, connection: 'close', 'content-length': '0' }
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  endSocket(socket, { text: `${head}\r\n${fields.join('')}\r\n` })
}
