import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket as Socket, WebSocketServer } from 'ws'
import { limits } from '../../util/limits/limits.ts'

/**
 * The members of a `ws` WebSocket that are used here. Declared here, because the types of `ws` are a
 * separate package that users of this one do not install.
 */
export interface WebSocket {
  readonly protocol: string
  readonly bufferedAmount: number
  readonly readyState: number
  readonly OPEN: number
  close: (code?: number, reason?: string) => void
  terminate(): void
  pause(): void
  resume(): void
  ping(): void
  pong(data: Buffer, mask: undefined, taken: (error?: Error | null) => void): void
  send(data: string, taken?: (error?: Error | null) => void): void
  send(data: Buffer, how: SendOptions, taken: (error?: Error | null) => void): void
  on<E extends keyof WebSocketEvents>(event: E, listener: Listener<E>): unknown
  once<E extends keyof WebSocketEvents>(event: E, listener: Listener<E>): unknown
}

/** The arguments of the listeners of a WebSocket with the default `binaryType`. */
export interface WebSocketEvents {
  open: []
  upgrade: [response: IncomingMessage]
  'unexpected-response': [request: ClientRequest, response: IncomingMessage]
  message: [data: Buffer, isBinary: boolean]
  ping: [data: Buffer]
  pong: [data: Buffer]
  error: [error: Error]
  close: [code: number, reason: Buffer]
}

type Listener<E extends keyof WebSocketEvents> = (...args: WebSocketEvents[E]) => void

interface SendOptions {
  readonly binary: boolean
  /** Whether this is the last fragment of the message. */
  readonly fin: boolean
}

/** The members of a `ws` server that are used here. */
export interface Handshakes {
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    done: (ws: WebSocket) => void,
  ): void
}

/**
 * The subprotocol in which a text message can hold several messages, one per line, because each frame costs
 * about as much as the message in it. It is specific to Trunkline, so a client offers it only to servers
 * that are known to accept it.
 */
export const joinedProtocol = 'trunkline-lines'

/** The limits of incoming WebSocket messages. */
export interface WsLimits {
  /** The maximum size of a message. */
  readonly maxBytes: number
  /** The maximum number of fragments of one message. */
  readonly maxFragments?: number
}

/** Starts opening a WebSocket. The server must choose one of the offered subprotocols. */
export function dialWebSocket(
  url: URL,
  offers: readonly string[],
  headers: Readonly<Record<string, string>>,
  limits: WsLimits,
  ca?: string,
): WebSocket {
  return new Socket(url, [...offers], {
    ...settings(limits),
    headers: { ...headers },
    // Overrides the environment (NODE_TLS_REJECT_UNAUTHORIZED), because the headers can be secret.
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca }),
  })
}

/**
 * Makes the server side of handshakes, without a listener. Accepts `joinedProtocol` and `mcp` if
 * offered.
 */
export function handshakes(limits: WsLimits): Handshakes {
  const names = acceptsJoined(limits) ? [joinedProtocol, 'mcp'] : ['mcp']
  return new WebSocketServer({
    ...settings(limits),
    noServer: true,
    clientTracking: false,
    handleProtocols: offers => names.find(name => offers.has(name)) ?? false,
  })
}

/** Whether `joinedProtocol` can be used: not if the size limit could reject joined messages. */
export function acceptsJoined({ maxBytes }: WsLimits): boolean {
  return maxBytes >= limits.websocketJoinedBytes.default
}

function settings({ maxBytes, maxFragments = limits.websocketFragments.default }: WsLimits) {
  return {
    // Compression costs memory per connection and lets a small message expand a thousandfold.
    perMessageDeflate: false,
    // ws stores the number in 32 bits and treats a negative one as no limit.
    maxPayload: Math.min(maxBytes, 0x7fffffff),
    maxFragments,
    // ws would answer every ping at once and queue the pongs without limit; `Pongs` answers them.
    autoPong: false,
  }
}
