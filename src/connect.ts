import { type Address, parseAddress } from './address.ts'
import { handlerOf } from './answers.ts'
import type { Channel } from './jsonrpc/channel.ts'
import type { Malformed } from './jsonrpc/message.ts'
import { Peer } from './jsonrpc/peer.ts'
import {
  checkOptions,
  isObject,
  type Protocol,
  type Protocols,
  settings,
  shown,
  type WireOptions,
} from './protocol.ts'
import type { ChildCommand, ChildProcess } from './transport/child.ts'

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
  /** Given the child process when it has been started: its number and its error output. */
  readonly onChild?: (child: ChildProcess) => void
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
  const where = whereOf(target)
  checkOptions(options)
  checkSubprotocol(options.subprotocol)
  const { methods = {}, timeoutMs, signal } = options
  const { decode, peer } = settings(options)
  // Before the connection, which nobody would close if this threw.
  const handler = handlerOf(methods)
  signal?.throwIfAborted()
  const channel = await open(where, { ...options, decode })
  return new Peer(channel, handler, { timeoutMs, ...peer })
}

type Where = Address | { readonly kind: 'child'; readonly command: ChildCommand }

function whereOf(target: string | ChildCommand): Where {
  if (typeof target === 'string') return parseAddress(target)
  // Callers the compiler never saw pass anything.
  if (!isObject(target)) {
    throw new TypeError(`connecting needs an address or { command }, not ${shown(target)}`)
  }
  const { command, args = [] } = target
  if (typeof command !== 'string' || command === '') {
    throw new TypeError(`the "command" to start is the name of a program, not ${shown(command)}`)
  }
  if (!Array.isArray(args) || args.some(arg => typeof arg !== 'string')) {
    throw new TypeError(`the "args" of "${command}" are an array of strings`)
  }
  return { kind: 'child', command: target }
}

function checkSubprotocol(name: string | undefined): void {
  // A token of HTTP, which is all that the header can carry.
  if (name === undefined || /^[\w!#$%&'*+.^`|~-]+$/.test(name)) return
  throw new TypeError(`the option "subprotocol" is a name without spaces, not ${shown(name)}`)
}

// Each transport is loaded only when somebody connects over it.
async function open(where: Where, options: ConnectOptions): Promise<Channel> {
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
      const { connectSocket } = await import('./transport/socket.ts')
      return connectSocket(where, streamOptions(options))
    }
    case 'websocket': {
      const { connectWebSocket } = await import('./transport/websocket.ts')
      return connectWebSocket(where.url, options)
    }
  }
}

/** The options without the callback that means something else to a stream that is no child's. */
function streamOptions({ onJunk: _, ...options }: ConnectOptions): Omit<ConnectOptions, 'onJunk'> {
  return options
}

async function start(command: ChildCommand, options: ConnectOptions): Promise<Channel> {
  const { childChannel } = await import('./transport/child.ts')
  const channel = await childChannel(command, options)
  try {
    options.onChild?.(channel)
  } catch (error) {
    await channel.close()
    throw error
  }
  return channel
}
