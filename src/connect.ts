import { parseAddress } from './address.ts'
import type { Channel } from './jsonrpc/channel.ts'
import { Peer } from './jsonrpc/peer.ts'
import {
  checkOptions,
  handlerOf,
  type Protocol,
  type Protocols,
  settings,
  type WireOptions,
} from './protocol.ts'
import type { ChildCommand } from './transport/child.ts'

export interface ConnectOptions<P extends Protocol = Protocol> extends WireOptions<P> {
  /** What answers the other side when it calls back. */
  readonly methods?: Protocols[P]['serves']
  /** How long calls wait for their replies, unless the call says otherwise; 0 waits for ever. */
  readonly timeoutMs?: number
  /** How long opening may take. */
  readonly handshakeMs?: number
  /** Gives up opening. Once there is a connection it does nothing. */
  readonly signal?: AbortSignal
  /** Sent with the handshake of a WebSocket. */
  readonly headers?: Readonly<Record<string, string>>
  /** Offered in the handshake of a WebSocket; a server that leaves it is as welcome. */
  readonly subprotocol?: string
  /** Given the error output of a child process as it comes. */
  readonly onStderr?: (text: string) => void
}

/**
 * Connects to an address that `listen` takes, or starts a program and talks to it over its standard
 * input and output; `stdio:` talks to whoever started this process.
 *
 * The peer belongs to the caller, who closes it; a program that was started ends with it. Rejects
 * with a ChannelError `'refused'` or `'timeout'` that names the target, with the signal's reason, or
 * with a TypeError for an address or options it cannot read.
 */
export async function connect<P extends Protocol>(
  target: string | ChildCommand,
  options: ConnectOptions<P>,
): Promise<Protocols[P]['connects']> {
  checkOptions(options)
  const { methods = {}, timeoutMs, signal } = options
  const { decode, peer } = settings(options)
  // Before the connection, which nobody would close if this threw.
  const handler = handlerOf(methods)
  signal?.throwIfAborted()
  const channel = await open(target, { ...options, decode })
  return new Peer(channel, handler, { timeoutMs, ...peer })
}

// Each transport is loaded only when somebody connects over it.
async function open(target: string | ChildCommand, options: ConnectOptions): Promise<Channel> {
  const where =
    typeof target === 'string' ? parseAddress(target) : ({ kind: 'child', target } as const)
  switch (where.kind) {
    case 'child': {
      const { childChannel } = await import('./transport/child.ts')
      return childChannel(where.target, options)
    }
    case 'stdio': {
      const { stdioChannel } = await import('./transport/stdio.ts')
      return stdioChannel(options)
    }
    case 'tcp':
    case 'unix':
    case 'pipe': {
      const { connectSocket } = await import('./transport/socket.ts')
      return connectSocket(where, options)
    }
    case 'websocket': {
      const { connectWebSocket } = await import('./transport/websocket.ts')
      return connectWebSocket(where.url, options)
    }
  }
}
