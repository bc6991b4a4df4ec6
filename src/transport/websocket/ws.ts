import { WebSocket, WebSocketServer } from 'ws'
import { limits } from '../../util/limits/limits.ts'

export type { RawData } from 'ws'
export type { WebSocket }

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
  return new WebSocket(url, [...offers], {
    ...settings(most),
    headers: { ...headers },
    // Whatever the environment says: the headers may hold secrets.
    rejectUnauthorized: true,
  })
}

/** The server side of handshakes; it listens nowhere. Takes the subprotocols above and `mcp` when offered. */
export function handshakes(most: WsLimits): WebSocketServer {
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
