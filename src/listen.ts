import { type Address, parseAddress } from './address.ts'
import { handlerOf } from './answers.ts'
import type { Channel } from './jsonrpc/channel.ts'
import type { RpcNotification, RpcRequest } from './jsonrpc/message.ts'
import { Peer } from './jsonrpc/peer.ts'
import {
  checkOptions,
  type Protocol,
  type Protocols,
  settings,
  type WireOptions,
} from './protocol.ts'
import type { Listener } from './transport/listener.ts'

export interface ListenOptions<P extends Protocol = Protocol> extends WireOptions<P> {
  /** Connections at one time; further ones are closed at once. */
  readonly maxConnections?: number
  /** Further `Host` values under which a WebSocket is opened, such as the name of a proxy. */
  readonly allowedHosts?: readonly string[]
  /** Web pages that may open a WebSocket, such as `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[]
  /** How long `close` waits for requests in flight. */
  readonly drainMs?: number
  /**
   * Given the peer of each connection, before its first message: to call the other side unasked.
   * `peer.closed` tells when and why it is over. The listener closes it.
   */
  readonly onPeer?: (peer: Peer) => void
  /**
   * Told what a handler threw that its caller is not told, with the message, and of connections
   * that were refused or could not be accepted. By default the former is printed on stderr.
   */
  readonly onError?: (error: unknown, message?: RpcRequest | RpcNotification) => void
}

/**
 * Serves on an address: `stdio:`, `tcp://host:port`, `unix:path`, `pipe:name` or
 * `ws://host:port/path`. Port 0 takes a free one; no host, or `localhost`, is this machine only.
 *
 * Each connection gets a peer of its own over the same answers. Closing the listener lets requests
 * in flight be answered first. Rejects with a TypeError for an address or options it cannot read,
 * and with a ChannelError `'refused'` when the address cannot be had.
 */
export async function listen<P extends Protocol>(
  answers: Protocols[P]['serves'],
  address: string,
  options: ListenOptions<P>,
): Promise<Listener> {
  checkOptions(options)
  const where = parseAddress(address)
  const handler = handlerOf(answers)
  const peers = new Set<Peer>()
  const { decode, peer: chosen } = settings(options)
  const peerOptions = { onError: options.onError, ...chosen }
  const listener = await bind(where, { ...options, decode }, channel => {
    const peer = new Peer(channel, handler, peerOptions)
    peers.add(peer)
    void peer.closed.then(() => peers.delete(peer))
    introduce(peer, options)
    return peer
  })
  let closing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    listener.stop()
    await Promise.all(Array.from(peers, peer => peer.close({ drainMs: options.drainMs })))
    await listener.close()
  }
  const close = (): Promise<void> => {
    closing ??= end()
    return closing
  }
  return { ...listener, close, [Symbol.asyncDispose]: close }
}

/** Hands out a new peer. What the callback throws is reported: it must not end this process. */
function introduce(peer: Peer, { onPeer, onError = printError }: ListenOptions): void {
  try {
    onPeer?.(peer)
  } catch (error) {
    onError(error)
  }
}

function printError(error: unknown): void {
  console.error('trunkline: onPeer threw:', error)
}

type Accept = (channel: Channel) => Peer

// Each transport is loaded only when somebody listens on it.
async function bind(where: Address, options: ListenOptions, accept: Accept): Promise<Listener> {
  switch (where.kind) {
    case 'stdio':
      return listenStdio(options, accept)
    case 'tcp':
    case 'unix':
    case 'pipe': {
      const { listenSocket } = await import('./transport/socket.ts')
      return listenSocket(where, options, accept)
    }
    case 'websocket': {
      const { listenWebSocket } = await import('./transport/websocket-server.ts')
      return listenWebSocket(where.url, options, accept)
    }
  }
}

async function listenStdio(options: ListenOptions, accept: Accept): Promise<Listener> {
  const { stdioChannel } = await import('./transport/stdio.ts')
  const peer = accept(stdioChannel(options))
  const close = (): Promise<void> => peer.close()
  return {
    address: 'stdio:',
    ended: peer.closed.then(() => {}),
    stop: () => {},
    close,
    [Symbol.asyncDispose]: close,
  }
}
