import { type Address, parseAddress } from './address.ts'
import { handlerOf } from './answers.ts'
import type { Client } from './client/client.ts'
import type { ClientOptions } from './client/options.ts'
import type { HttpClientOptions } from './http/client.ts'
import type { Channel } from './jsonrpc/channel.ts'
import type { Malformed } from './jsonrpc/message.ts'
import { Peer } from './jsonrpc/peer.ts'
import type { Endpoint } from './mcp/endpoint.ts'
import { profile } from './mcp/profile.ts'
import { decodeOptions } from './mcp/profile-options.ts'
import {
  type Answers,
  checkOptions,
  isEndpoint,
  type RpcOptions,
  settings,
  shown,
  type WireOptions,
} from './protocol.ts'
import type { ChildCommand, ChildProcess } from './transport/child.ts'
import { defined } from './util/defined.ts'
import { isRecord } from './util/record.ts'

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
}

export interface ConnectOptions extends OpeningOptions, ClientOptions {
  readonly protocol?: 'mcp'
}

export interface RpcConnectOptions extends OpeningOptions, RpcOptions {
  /** What answers the other side when it calls back. */
  readonly methods?: Answers
  /** How long calls wait for their replies, unless the call says otherwise; 0 waits for ever. */
  readonly timeoutMs?: number
}

/**
 * Connects to an address that `listen` takes, or starts a program and talks to it over its standard
 * input and output; `stdio:` talks to whoever started this process. A server of this process is
 * connected to directly.
 *
 * Gives a client, or, with `protocol: 'jsonrpc'`, a peer. It belongs to the caller, who closes it; a
 * program that was started ends with it. Rejects with a ChannelError `'refused'` or `'timeout'` that
 * names the target, with the signal's reason, or with a TypeError for an address or options it cannot
 * read.
 */
export function connect(
  target: string | ChildCommand | Endpoint,
  options?: ConnectOptions,
): Promise<Client>
export function connect(target: string | ChildCommand, options: RpcConnectOptions): Promise<Peer>
export async function connect(
  target: string | ChildCommand | Endpoint,
  options: ConnectOptions | RpcConnectOptions = {},
): Promise<Client | Peer> {
  checkOptions(options)
  checkSubprotocol(options.subprotocol)
  if (options.protocol === 'jsonrpc') return connectPeer(whereOf(target), options)
  return connectClient(isEndpoint(target) ? target : whereOf(target), options)
}

async function connectPeer(where: Where, options: RpcConnectOptions): Promise<Peer> {
  const { methods = {}, timeoutMs, signal } = options
  const { decode, peer } = settings(options)
  // Before the connection, which nobody would close if this threw.
  const handler = handlerOf(methods)
  signal?.throwIfAborted()
  const channel = await open(where, { ...options, decode })
  return new Peer(channel, handler, { timeoutMs, ...peer })
}

async function connectClient(where: Where | Endpoint, options: ConnectOptions): Promise<Client> {
  const { openClient } = await import('./client/client.ts')
  if (isEndpoint(where)) {
    const { memoryPair } = await import('./transport/memory.ts')
    return openClient(async () => {
      const [near, far] = memoryPair()
      where.attach(far)
      return near
    }, options)
  }
  const { signal, ...lasting } = options
  const decode = { ...decodeOptions(profile(options.profile)), ...defined(options.decode) }
  const opening = { subprotocol: 'mcp', ...lasting, decode }
  let isOpen = false
  // Whoever gives up opening means the first time: later ones are the client's own business.
  const dial = (): Promise<Channel> => open(where, isOpen ? opening : { ...opening, signal })
  const { knownServers } = await import('./client/verdict.ts')
  const remember = { target: nameOf(where), verdicts: knownServers }
  const client = await openClient(dial, { remember, ...options })
  isOpen = true
  return client
}

/** Under which name it is remembered what a target speaks. */
function nameOf(where: Where): string {
  if (where.kind !== 'child') return JSON.stringify(where)
  const { command, args, cwd } = where.command
  return JSON.stringify([command, args, cwd])
}

type Where = Address | { readonly kind: 'child'; readonly command: ChildCommand }

function whereOf(target: string | ChildCommand | Endpoint): Where {
  if (typeof target === 'string') return parseAddress(target)
  // Callers the compiler never saw pass anything.
  if (!isRecord(target) || isEndpoint(target)) {
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
async function open(
  where: Where,
  options: OpeningOptions & Pick<ClientOptions, 'clock' | 'onError'>,
): Promise<Channel> {
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
    case 'http': {
      const { httpChannel } = await import('./http/client.ts')
      const { headers, decode, clock, onError, http } = options
      return httpChannel(where.url, { headers, ...defined(http), decode, clock, onError })
    }
  }
}

/** The options without the callback that means something else to a stream that is no child's. */
function streamOptions({ onJunk: _, ...options }: OpeningOptions): Omit<OpeningOptions, 'onJunk'> {
  return options
}

async function start(command: ChildCommand, options: OpeningOptions): Promise<Channel> {
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
