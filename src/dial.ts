import type { Address } from './address.ts'
import type { ClientOptions } from './client/options.ts'
import type { HttpClientOptions } from './http/client/channel.ts'
import type { Channel } from './jsonrpc/channel.ts'
import type { Malformed } from './jsonrpc/message.ts'
import type { WireOptions } from './protocol.ts'
import type { ChildCommand, ChildProcess } from './transport/process/child.ts'
import { defined } from './util/defined.ts'
import type { Traffic } from './util/traffic.ts'

/** Where a channel leads: to an address, or to a program that is started for it. */
export type Where = Address | { readonly kind: 'child'; readonly command: ChildCommand }

/** How a connection is opened, whatever is said on it. */
export interface OpeningOptions extends WireOptions {
  /** How long opening may take. */
  readonly handshakeMs?: number
  /** Gives up opening. Once there is a connection it does nothing. */
  readonly signal?: AbortSignal
  /** Sent with the handshake of a WebSocket, and with every request over HTTP. */
  readonly headers?: Readonly<Record<string, string>>
  /** Offered in the handshake of a WebSocket; a server that leaves it is as welcome. */
  readonly subprotocol?: string
  /**
   * Over HTTP, whether calls go over a WebSocket to the same address where the server is stateless and
   * says that it takes one, as servers of this package do. While there is none, and for whatever needs a
   * stream of its own, HTTP is used. Not where `http.fetch` is given.
   */
  readonly websocket?: boolean
  /** Told when calls begin to go over such a WebSocket, and when they go over HTTP again. */
  readonly onWebSocket?: (isOpen: boolean) => void
  /** What only HTTP needs to know, such as headers that change, or a `fetch` of the caller's. */
  readonly http?: Omit<HttpClientOptions, 'decode' | 'clock' | 'onError'>
  /** Given the error output of a child process as it comes. */
  readonly onStderr?: (text: string) => void
  /** How much of the end of that output is kept. */
  readonly stderrBytes?: number
  /** Told the first time that a child process prints what is no JSON. By default on stderr. */
  readonly onJunk?: (malformed: Malformed) => void
  /** Such lines after which a child process counts as broken. */
  readonly junkLines?: number
  /** How long a child process may take to leave after the end of its input. */
  readonly endMs?: number
  /** How long it, and what it has left behind, may take to leave after SIGTERM. */
  readonly termMs?: number
  /** Given the child process each time one has been started: its number and its error output. */
  readonly onChild?: (child: ChildProcess) => void
  /** Given each channel before it is used; what it gives back is used instead: to watch or record. */
  readonly onChannel?: (channel: Channel) => Channel
}

/**
 * Opens a channel. Rejects with a ChannelError `'refused'` or `'timeout'` that names the target. Each
 * transport is loaded only when somebody connects over it.
 */
export async function dial(where: Where, options: DialOptions): Promise<Channel> {
  const channel = await open(where, options)
  return options.onChannel?.(channel) ?? channel
}

type DialOptions = OpeningOptions &
  Pick<ClientOptions, 'clock' | 'onError'> & {
    /** Counts what passes. */
    readonly traffic?: Traffic
  }

async function open(where: Where, options: DialOptions): Promise<Channel> {
  switch (where.kind) {
    case 'child':
      return start(where.command, options)
    case 'stdio': {
      const { stdioChannel } = await import('./transport/stdio.ts')
      return stdioChannel(streamOptions(options))
    }
    case 'tcp':
    case 'unix':
    case 'pipe': {
      const { connectSocket } = await import('./transport/socket/socket.ts')
      return connectSocket(where, streamOptions(options))
    }
    case 'websocket': {
      const { connectWebSocket } = await import('./transport/websocket/connect.ts')
      return connectWebSocket(where.url, options)
    }
    case 'http':
      return openHttp(where.url, options)
  }
}

async function openHttp(url: URL, options: DialOptions): Promise<Channel> {
  const { headers, decode, clock, onError, http, websocket, onWebSocket, traffic } = options
  const its = { headers, ...defined(http), decode, clock, onError }
  if (websocket !== true || its.fetch !== undefined) {
    const { httpChannel } = await import('./http/client/channel.ts')
    return httpChannel(url, its, { traffic })
  }
  const { httpWithWebSocket } = await import('./http/client/websocket.ts')
  return httpWithWebSocket(url, its, {
    dial: async (place, dialling) => {
      const { connectWebSocket } = await import('./transport/websocket/connect.ts')
      return connectWebSocket(place, { ...options, ...dialling, joins: true })
    },
    onChange: onWebSocket,
    traffic,
  })
}

/** The options without the callback that means something else to a stream that is no child's. */
function streamOptions({ onJunk: _, ...options }: DialOptions): Omit<DialOptions, 'onJunk'> {
  return options
}

async function start(command: ChildCommand, options: DialOptions): Promise<Channel> {
  const { childChannel } = await import('./transport/process/child.ts')
  const channel = await childChannel(command, options)
  try {
    options.onChild?.(channel)
  } catch (error) {
    await channel.close()
    throw error
  }
  return channel
}
