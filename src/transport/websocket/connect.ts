import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Channel, ChannelError } from '../../jsonrpc/channel.ts'
import type { Traffic } from '../../util/traffic.ts'
import { type OpeningOptions, opening } from '../opening.ts'
import { WebSocketChannel, type WebSocketChannelOptions, websocketRules } from './channel.ts'
import { Heartbeat, type HeartbeatOptions } from './heartbeat.ts'
import { dial, handshakes, joinedProtocol, takesJoined, type WsLimits } from './ws.ts'

export interface WebSocketOptions extends WebSocketChannelOptions, HeartbeatOptions {
  /** Pieces one message may come in. */
  readonly maxFragments?: number
}

export interface ConnectWebSocketOptions extends WebSocketOptions, OpeningOptions {
  /** Sent with the handshake. */
  readonly headers?: Readonly<Record<string, string>>
  /** Offered to the server, which may leave it. */
  readonly subprotocol?: string
  /** Whether the server is known to be one of ours, which may be sent several messages as one. */
  readonly joins?: boolean
  /** Counts what passes. */
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
  const most = limitsOf(options)
  if (joins && subprotocol !== undefined && takesJoined(most)) offers.unshift(joinedProtocol)
  // Without the query and the user, which may hold secrets.
  const address = `${url.protocol}//${url.host}${url.pathname}`
  return opening(address, options, (opened, failed) => {
    const ws = dial(url, offers, headers, most)
    const refused = (what: string, cause?: Error): void =>
      failed(new ChannelError('refused', `connecting to ${address}: ${what}`, { cause }))
    ws.once('unexpected-response', (_, response) =>
      refused(`the server answered ${response.statusCode}`),
    )
    ws.once('upgrade', response => {
      options.traffic?.watch(response.socket)
      // A server that leaves the offer counts for ws as one that refuses.
      if (subprotocol !== undefined) response.headers['sec-websocket-protocol'] ??= subprotocol
      ws.once('open', () => {
        opened(new WebSocketChannel(ws, response.socket, new Heartbeat(options), options))
      })
    })
    // Stays on: giving up an unfinished handshake is reported as an error as well.
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
 * Makes the server side of handshakes; a request that is no WebSocket handshake is answered 400. What
 * comes over a connection has the headers of its handshake in its envelope.
 * Connections made by one upgrade share one heartbeat.
 */
export function upgrader(options: WebSocketOptions): Upgrade {
  const heartbeat = new Heartbeat(options)
  const server = handshakes(limitsOf(options))
  return (request, socket, head, done) => {
    server.handleUpgrade(request, socket, head, accepted => {
      // The check: lists are for Set-Cookie alone, which no request carries.
      const headers = request.headers as Readonly<Record<string, string>>
      const envelope = { headers, ...options.envelope }
      done(new WebSocketChannel(accepted, socket, heartbeat, { ...options, envelope }))
    })
  }
}

function limitsOf({ decode, maxFragments }: WebSocketOptions): WsLimits {
  return { maxBytes: websocketRules(decode).maxBytes, maxFragments }
}
