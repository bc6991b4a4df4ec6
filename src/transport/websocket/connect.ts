import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Channel, ChannelError } from '../../jsonrpc/channel.ts'
import type { Traffic } from '../../util/traffic.ts'
import { type OpeningOptions, opening } from '../opening.ts'
import { WebSocketChannel, type WebSocketChannelOptions, websocketRules } from './channel.ts'
import { Heartbeat, type HeartbeatOptions } from './heartbeat.ts'
import { acceptsJoined, dial, handshakes, joinedProtocol, type WsLimits } from './ws.ts'

/** Options of both sides of a WebSocket. */
export interface WebSocketOptions extends WebSocketChannelOptions, HeartbeatOptions {
  /** The maximum number of fragments of one message. */
  readonly maxFragments?: number
}

/** Options of `connectWebSocket`. */
export interface ConnectWebSocketOptions extends WebSocketOptions, OpeningOptions {
  /** Headers of the handshake request. */
  readonly headers?: Readonly<Record<string, string>>
  /** A subprotocol that is offered to the server, which can ignore it. */
  readonly subprotocol?: string
  /** Whether the server is known to accept several messages as one (`joinedProtocol`). */
  readonly joins?: boolean
  /** Counts the bytes received and sent. */
  readonly traffic?: Traffic
}

/**
 * Opens a WebSocket. Rejects with a ChannelError `'timeout'` or `'refused'` that names the address,
 * or with the signal's reason.
 */
export function connectWebSocket(
  url: URL,
  options: ConnectWebSocketOptions = {},
): Promise<Channel> {
  const { headers = {}, subprotocol, joins } = options
  const offers = subprotocol === undefined ? [] : [subprotocol]
  const limits = limitsOf(options)
  if (joins && subprotocol !== undefined && acceptsJoined(limits)) offers.unshift(joinedProtocol)
  // Without the query and the credentials, which can be secret.
  const address = `${url.protocol}//${url.host}${url.pathname}`
  return opening(address, options, (opened, failed) => {
    const ws = dial(url, offers, headers, limits)
    const refused = (reason: string, cause?: Error): void =>
      failed(new ChannelError('refused', `connecting to ${address}: ${reason}`, { cause }))
    ws.once('unexpected-response', (_, response) =>
      refused(`the server answered ${response.statusCode}`),
    )
    ws.once('upgrade', response => {
      options.traffic?.watch(response.socket)
      // ws treats a server that ignores the offer as one that rejects it.
      if (subprotocol !== undefined) response.headers['sec-websocket-protocol'] ??= subprotocol
      ws.once('open', () => {
        opened(new WebSocketChannel(ws, response.socket, new Heartbeat(options), options))
      })
    })
    // Never removed, because terminating an unfinished handshake emits an error, too.
    ws.on('error', cause => refused(cause.message || 'nothing listens there', cause))
    return () => ws.terminate()
  })
}

/** Turns the upgrade of an HTTP request into a channel. */
export type Upgrade = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  done: (channel: Channel) => void,
) => void

/**
 * Makes the server side of handshakes; a request that is no WebSocket handshake is answered 400. The
 * envelope of each message contains the headers of the handshake. Connections of one upgrader share one
 * heartbeat.
 */
export function upgrader(options: WebSocketOptions): Upgrade {
  const heartbeat = new Heartbeat(options)
  const server = handshakes(limitsOf(options))
  return (request, socket, head, done) => {
    server.handleUpgrade(request, socket, head, accepted => {
      // The check: only Set-Cookie has an array, which no request has.
      const headers = request.headers as Readonly<Record<string, string>>
      const envelope = { headers, ...options.envelope }
      done(new WebSocketChannel(accepted, socket, heartbeat, { ...options, envelope }))
    })
  }
}

function limitsOf({ decode, maxFragments }: WebSocketOptions): WsLimits {
  return { maxBytes: websocketRules(decode).maxBytes, maxFragments }
}
