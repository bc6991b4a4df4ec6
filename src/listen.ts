import { type Address, parseAddress } from './address.ts'
import { handlerOf } from './answers.ts'
import type { HttpHandler } from './http/exchange.ts'
import type { Channel } from './jsonrpc/channel.ts'
import { Peer } from './jsonrpc/peer/peer.ts'
import { type ListenOptions, listenTables, type RpcListenOptions } from './listen-options.ts'
import type { Endpoint } from './mcp/endpoint.ts'
import { readingFor } from './mcp/profile-options.ts'
import {
  type Answers,
  checkProtocolOptions,
  isEndpoint,
  settings,
  type WireOptions,
} from './protocol.ts'
import type { Listener } from './transport/listener.ts'
import { defined } from './util/defined.ts'
import { shown } from './util/options.ts'
import type { Traffic } from './util/traffic.ts'

export type { ListenOptions, RpcListenOptions }

/**
 * Serves on an address: `stdio:`, `tcp://host:port`, `unix:path`, `pipe:name`,
 * `ws://host:port/path` or `http://host:port/path`, where WebSockets are opened too. Port 0 takes a
 * free one; no host, or `localhost`, is this machine only.
 *
 * What is served is a server, which may be on any number of addresses at once, or, with
 * `protocol: 'jsonrpc'`, plain methods. Each connection is a conversation of its own. Closing the
 * listener lets requests in flight be answered first, and leaves the server as it is. Rejects with a
 * TypeError for an address or options it cannot read, and with a ChannelError `'refused'` when the
 * address cannot be had.
 */
export function listen(
  endpoint: Endpoint,
  address: string,
  options?: ListenOptions,
): Promise<Listener>
export function listen(
  answers: Answers,
  address: string,
  options: RpcListenOptions,
): Promise<Listener>
export async function listen(
  answers: Answers,
  address: string,
  options: ListenOptions | RpcListenOptions = {},
): Promise<Listener> {
  checkProtocolOptions(options, listenTables)
  const where = parseAddress(address)
  const { take, decode, service, traffic } =
    options.protocol === 'jsonrpc' ? rpcTaker(answers, options) : mcpTaker(answers, options)
  const taken = new Set<Taken>()
  const listener = await bind(where, { ...options, decode, service, traffic }, channel => {
    const one = take(channel)
    taken.add(one)
    void one.closed.then(() => taken.delete(one))
    return one
  })
  let closing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    listener.stop()
    await Promise.all(Array.from(taken, one => one.close({ drainMs: options.drainMs })))
    await listener.close()
  }
  const close = (): Promise<void> => {
    closing ??= end()
    return closing
  }
  return { ...listener, close, [Symbol.asyncDispose]: close }
}

/** One connection that is being served. */
interface Taken {
  readonly closed: Promise<unknown>
  close(options?: { readonly drainMs?: number }): Promise<void>
}

/** How a protocol takes over a channel, and how it wants messages to be read. */
interface Taker extends Pick<WireOptions, 'decode'> {
  readonly take: (channel: Channel) => Taken
  /** The same over HTTP, on a path. */
  readonly service: (path: string) => Promise<HttpHandler>
  readonly traffic?: Traffic
}

function mcpTaker(answers: Answers, options: ListenOptions): Taker {
  if (!isEndpoint(answers)) {
    const hint = "for plain methods, say { protocol: 'jsonrpc' }"
    throw new TypeError(`what is served is a server, not ${shown(answers)}; ${hint}`)
  }
  return {
    take: channel => answers.attach(channel),
    traffic: answers.traffic,
    decode: { ...readingFor(answers), ...defined(options.decode) },
    service: async path => {
      const { HttpService } = await import('./http/server/service.ts')
      const sse = { events: '/sse', messages: '/messages' }
      const http = { sse, ...options, ...options.http, path, hasWebSockets: true }
      const service = new HttpService(answers, http)
      if (options.ops === undefined) return service
      const { beside } = await import('./observe/health/health.ts')
      return beside(service, options.ops)
    },
  }
}

function rpcTaker(answers: Answers, options: RpcListenOptions): Taker {
  const handler = handlerOf(answers)
  const { decode, peer: chosen } = settings(options)
  const peerOptions = { onError: options.onError, ...chosen }
  const take = (channel: Channel): Peer => {
    const peer = new Peer(channel, handler, peerOptions)
    introduce(peer, options)
    return peer
  }
  const service = async (path: string): Promise<HttpHandler> => {
    const { RpcService } = await import('./http/server/jsonrpc.ts')
    const { allowedHosts, allowedOrigins } = options
    return new RpcService(handler, {
      allowedHosts,
      allowedOrigins,
      path,
      decode,
      peer: peerOptions,
      maxInFlight: options.http?.maxInFlight,
    })
  }
  return { take, decode, service }
}

/** Hands out a new peer. What the callback throws is reported: it must not end this process. */
function introduce(peer: Peer, { onPeer, onError = printError }: RpcListenOptions): void {
  try {
    onPeer?.(peer)
  } catch (error) {
    onError(error)
  }
}

function printError(error: unknown): void {
  console.error('trunkline: onPeer threw:', error)
}

type Accept = (channel: Channel) => Taken
type Bound = (ListenOptions | RpcListenOptions) & Pick<Taker, 'service' | 'traffic'>

// Each transport is loaded only when somebody listens on it.
async function bind(where: Address, options: Bound, accept: Accept): Promise<Listener> {
  switch (where.kind) {
    case 'stdio':
      return listenStdio(options, accept)
    case 'tcp':
    case 'unix':
    case 'pipe': {
      const { listenSocket } = await import('./transport/socket/socket.ts')
      return listenSocket(where, options, accept)
    }
    case 'websocket': {
      const { listenWebSocket } = await import('./transport/websocket/server.ts')
      return listenWebSocket(where.url, options, accept)
    }
    case 'http': {
      const { listenHttp } = await import('./listen-http.ts')
      return listenHttp(where.url, options, accept)
    }
  }
}

async function listenStdio(options: Bound, accept: Accept): Promise<Listener> {
  const { stdioChannel } = await import('./transport/stdio.ts')
  const taken = accept(stdioChannel(options))
  const close = (): Promise<void> => taken.close()
  return {
    address: 'stdio:',
    ended: taken.closed.then(() => {}),
    stop: () => {},
    close,
    [Symbol.asyncDispose]: close,
  }
}
