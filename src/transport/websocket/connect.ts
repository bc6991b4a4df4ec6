import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Channel, ChannelError } from '../../jsonrpc/channel.ts'
import { withMaxBytes } from '../../jsonrpc/codec/decode-rules.ts'
import { limits } from '../../util/limits/limits.ts'
import type { AddressPolicy } from '../../util/sockets/address.ts'
import { clientAddress } from '../../util/sockets/client-address.ts'
import { isPlainAnswer } from '../../util/tls.ts'
import type { Traffic } from '../../util/traffic.ts'
import { type OpeningOptions, opening } from '../opening.ts'
import { WebSocketChannel, type WebSocketChannelOptions, websocketRules } from './channel.ts'
import { WebSocketHeartbeat, type WebSocketHeartbeatOptions } from './heartbeat.ts'
import { acceptsJoined, dialWebSocket, handshakes, joinedProtocol, type WsLimits } from './ws.ts'

/** A handshake that the server answered with a status. It is the cause of the ChannelError that callers get. */
export class HandshakeStatusError extends Error {
  readonly status: number
  /** The headers of the response, such as `www-authenticate`. */
  readonly headers: Headers
  /** The IP address of the server. */
  readonly address: string | undefined

  constructor(response: IncomingMessage) {
    super(`the server answered ${response.statusCode}`)
    this.name = 'HandshakeStatusError'
    this.status = response.statusCode ?? 0
    this.headers = headersOf(response)
    this.address = response.socket.remoteAddress
  }
}

/** Options of both sides of a WebSocket. */
export interface WebSocketOptions extends WebSocketChannelOptions, WebSocketHeartbeatOptions {
  /** The maximum number of fragments of one message. */
  readonly maxFragments?: number
}

/** Options of `connectWebSocket`. */
export interface ConnectWebSocketOptions extends WebSocketOptions, OpeningOptions {
  /** Headers of the handshake request. */
  readonly headers?: Readonly<Record<string, string>>
  /** A subprotocol that is offered to the server, which can ignore it. */
  readonly subprotocol?: string
  /** The certificates of authorities to trust, as PEM, instead of those that Node.js trusts. */
  readonly ca?: string
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
  const accepted = limitsOf(options)
  if (joins && subprotocol !== undefined && acceptsJoined(accepted)) offers.unshift(joinedProtocol)
  // Without the query and the credentials, which can be secret.
  const address = `${url.protocol}//${url.host}${url.pathname}`
  return opening(address, options, (opened, failed) => {
    const ws = dialWebSocket(url, offers, headers, accepted, options.ca)
    const refused = (reason: string, cause?: Error): void =>
      failed(new ChannelError('refused', `connecting to ${address}: ${reason}`, { cause }))
    ws.once('unexpected-response', (_, response) => {
      const cause = new HandshakeStatusError(response)
      refused(cause.message, cause)
    })
    ws.once('upgrade', response => {
      options.traffic?.watch(response.socket)
      // ws treats a server that ignores the offer as one that rejects it.
      if (subprotocol !== undefined) response.headers['sec-websocket-protocol'] ??= subprotocol
      ws.once('open', () => {
        opened(new WebSocketChannel(ws, response.socket, new WebSocketHeartbeat(options), options))
      })
    })
    // Never removed, because terminating an unfinished handshake emits an error, too.
    ws.on('error', cause => {
      const code = 'code' in cause ? String(cause.code) : ''
      const isPlain = isPlainAnswer(code, cause.message)
      const words = isPlain ? 'the server does not speak TLS; use ws: instead?' : cause.message
      refused(words || 'nothing listens there', cause)
    })
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
 * envelope of each message contains the headers of the handshake and the address of the client. Connections of one upgrader share one
 * heartbeat.
 */
export function upgrader({
  decode: wanted,
  isProxy,
  ...rest
}: WebSocketOptions & Pick<AddressPolicy, 'isProxy'>): Upgrade {
  const decode = withMaxBytes(wanted, 'websocket', limits.callerMessageBytes.default)
  const options = { ...rest, decode }
  const heartbeat = new WebSocketHeartbeat(options)
  const server = handshakes(limitsOf(options))
  return (request, socket, head, done) => {
    server.handleUpgrade(request, socket, head, accepted => {
      // The check: only Set-Cookie has an array, which no request has.
      const headers = request.headers as Readonly<Record<string, string>>
      const { remoteAddress } = request.socket
      const { 'x-forwarded-for': forwardedFor } = headers
      const address = (includesLocal: boolean): string | undefined =>
        clientAddress(remoteAddress, forwardedFor, { isProxy, includesLocal })
      const envelope = { headers, address, ...options.envelope }
      done(new WebSocketChannel(accepted, socket, heartbeat, { ...options, envelope }))
    })
  }
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value)
  }
  return headers
}

function limitsOf({ decode, maxFragments }: WebSocketOptions): WsLimits {
  return { maxBytes: websocketRules(decode).maxBytes, maxFragments }
}
