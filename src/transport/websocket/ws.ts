import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket as Socket, WebSocketServer } from 'ws'
import { limits } from '../../util/limits/limits.ts'

/**
 * The part of a WebSocket of `ws` that is used here. Written out, because the types of `ws` are a package
 * of their own, which who installs this one does not get.
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
  send(data: string, taken?: (error?: Error | null) => void): void
  send(data: Buffer, how: SendOptions, taken: (error?: Error | null) => void): void
  on<E extends keyof WebSocketEvents>(event: E, listener: Listener<E>): unknown
  once<E extends keyof WebSocketEvents>(event: E, listener: Listener<E>): unknown
}

/** What the listeners of a WebSocket are called with, while its `binaryType` is left as it is. */
export interface WebSocketEvents {
  open: []
  upgrade: [response: IncomingMessage]
  'unexpected-response': [request: ClientRequest, response: IncomingMessage]
  message: [data: Buffer, isBinary: boolean]
  pong: [data: Buffer]
  error: [error: Error]
  close: [code: number, reason: Buffer]
}

type Listener<E extends keyof WebSocketEvents> = (...args: WebSocketEvents[E]) => void

interface SendOptions {
  readonly binary: boolean
  /** Whether this is the last piece of the message. */
  readonly fin: boolean
}

/** The part of a server of `ws` that is used here. */
export interface Handshakes {
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    done: (ws: WebSocket) => void,
  ): void
}

/**
 * The subprotocol in which a text message may hold several messages, one on each line: each frame costs
 * about as much as the message in it. Ours alone, so that only who knows the other side may offer it.
 */
export const joinedProtocol = 'trunkline-lines'

export interface WsLimits {
  /** The longest message. */
  readonly maxBytes: number
  /** Pieces one message may come in. */
  readonly maxFragments?: number
}

/** Begins to open a WebSocket. The offered subprotocols must be answered with one of them. */
export function dial(
  url: URL,
  offers: readonly string[],
  headers: Readonly<Record<string, string>>,
  most: WsLimits,
): WebSocket {
  return new Socket(url, [...offers], {
    ...settings(most),
    headers: { ...headers },
    // Whatever the environment says: the headers may hold secrets.
    rejectUnauthorized: true,
  })
}

/** The server side of handshakes; it listens nowhere. Takes the subprotocols above and `mcp` when offered. */
export function handshakes(most: WsLimits): Handshakes {
  const names = takesJoined(most) ? [joinedProtocol, 'mcp'] : ['mcp']
  return new WebSocketServer({
    ...settings(most),
    noServer: true,
    clientTracking: false,
    handleProtocols: offers => names.find(name => offers.has(name)) ?? false,
  })
}

/** Whether several messages may come as one: not where that one could be refused for its size. */
export function takesJoined({ maxBytes }: WsLimits): boolean {
  return maxBytes >= limits.websocketJoinedBytes.default
}

function settings({ maxBytes, maxFragments = limits.websocketFragments.default }: WsLimits) {
  return {
    // Compression costs memory for each connection and lets a small message grow a thousandfold.
    perMessageDeflate: false,
    // ws keeps the number in 32 bits, and takes a negative one for no limit.
    maxPayload: Math.min(maxBytes, 0x7fffffff),
    maxFragments,
  }
}
