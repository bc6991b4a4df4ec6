import { parseAddress } from './address.ts'
import { handlerOf } from './answers.ts'
import type { AuthOptions } from './auth/server/auth-options.ts'
import type { HttpHandler } from './http/exchange.ts'
import type { HttpListenerOptions } from './http/server/options.ts'
import type { Channel } from './jsonrpc/channel.ts'
import { Peer } from './jsonrpc/peer/peer.ts'
import {
  type ListenOptions,
  type ListenOptionsBy,
  listenTables,
  type RpcListenOptions,
} from './listen-options.ts'
import type { Authenticator } from './mcp/authenticator.ts'
import { servedPages } from './mcp/callers/connect-pages.ts'
import { type Endpoint, endpointDecodeOptions } from './mcp/endpoint.ts'
import {
  type Answers,
  checkProtocolOptions,
  isEndpoint,
  type Protocol,
  type Protocols,
  settings,
  type WireOptions,
} from './protocol.ts'
import type { Listener } from './transport/listener.ts'
import { type Address, type Served, transportOf } from './transports.ts'
import { limits } from './util/limits/limits.ts'
import { defined } from './util/objects.ts'
import { formatValue } from './util/options.ts'
import { sleep } from './util/time/sleep.ts'
import type { Traffic } from './util/traffic.ts'

export type { ListenOptions, ListenOptionsBy, RpcListenOptions }

/**
 * Serves on an address: `stdio:`, `tcp://host:port`, `unix:path`, `pipe:name`,
 * `ws://host:port/path` or `http://host:port/path`, which accepts WebSockets too. Port 0 binds a free
 * port; without a host, or with `localhost`, only this machine can connect.
 *
 * Serves a server, which can listen on any number of addresses at once, or, with
 * `protocol: 'jsonrpc'`, plain methods. Every connection is independent. Closing the listener completes
 * the requests in flight first, and does not close the server. Rejects with a TypeError for an invalid
 * address or invalid options, and with a ChannelError `'refused'` if the address cannot be bound.
 */
// One signature for both protocols, because the compiler cannot say which of several was meant.
export function listen<P extends Protocol = 'mcp'>(
  answers: Protocols[P]['serves'],
  address: string,
  options?: { readonly protocol?: P } & ListenOptionsBy[P],
): Promise<Listener>
export async function listen(
  answers: Answers,
  address: string,
  options: ListenOptions | RpcListenOptions = {},
): Promise<Listener> {
  checkProtocolOptions(options, listenTables)
  const where = parseAddress(address)
  const auth = options.auth === undefined ? undefined : await listenerAuth(where, options.auth)
  // Set once the listener can be closed.
  let onDrain = (): void => {}
  const { serve, decode, service, traffic, onAddress } =
    options.protocol === 'jsonrpc'
      ? rpcServing(answers, options, auth?.authenticator)
      : await mcpServing(
          answers,
          where,
          withDrain(options, () => onDrain()),
          auth?.authenticator,
        )
  const connections = new Set<Served>()
  const listening = { ...options, decode, service, traffic, onAddress, auth: auth?.authenticator }
  const listener = await transportOf(where).listen(where, listening, channel => {
    const connection = serve(auth?.guard === undefined ? channel : auth.guard(channel))
    connections.add(connection)
    void connection.closed.then(() => connections.delete(connection))
    return connection
  })
  let closing: Promise<void> | undefined
  const { drainMs, lameDuckMs = limits.lameDuckMs.default } = options
  const end = async (): Promise<void> => {
    if (listener.retire !== undefined && lameDuckMs > 0) {
      listener.retire()
      await sleep(lameDuckMs).done
    }
    listener.stop()
    const lingerMs = limits.drainIdleMs.default
    const drained = Array.from(connections, one => one.close({ drainMs, lingerMs }))
    await Promise.all([...drained, listener.drain?.()])
    await listener.close()
  }
  const close = (): Promise<void> => {
    closing ??= end()
    return closing
  }
  onDrain = () => void close()
  const { ended, stop, reload } = listener
  const own = { address: listener.address, ended, stop, close, [Symbol.asyncDispose]: close }
  return reload === undefined ? own : { ...own, reload }
}

/** Returns options with which a node closes its listener when it is asked to drain, unless the program decides that. */
function withDrain(options: ListenOptions, onDrain: () => void): ListenOptions {
  if (options.backplane === undefined) return options
  return { ...options, cluster: { onDrain, ...defined(options.cluster) } }
}

/** How a protocol serves a channel, and how its messages are decoded. */
interface ProtocolServing extends Pick<WireOptions, 'decode'> {
  readonly serve: (channel: Channel) => Served
  /** Creates the handler of HTTP requests on a path. */
  readonly service: (path: string) => Promise<HttpHandler>
  readonly traffic?: Traffic
  /** Called with the address of an HTTP listener before it serves requests. Throws to refuse it. */
  readonly onAddress?: ((address: string) => void) | undefined
}

/** How the callers of a listener are authenticated: HTTP requests and handshakes, or the channels themselves. */
async function listenerAuth(
  where: Address,
  auth: AuthOptions | Authenticator,
): Promise<{
  readonly authenticator: Authenticator | undefined
  readonly guard?: (channel: Channel) => Channel
}> {
  const { authenticatorOf, channelGuard } = await import('./listen-auth.ts')
  const authenticator = await authenticatorOf(auth)
  if (authenticator === undefined || transportOf(where).locator === 'url') return { authenticator }
  return { authenticator, guard: await channelGuard(where, auth, authenticator) }
}

async function mcpServing(
  answers: Answers,
  { kind }: Address,
  options: ListenOptions,
  auth: Authenticator | undefined,
): Promise<ProtocolServing> {
  if (!isEndpoint(answers)) {
    const hint = "for plain methods, pass { protocol: 'jsonrpc' }"
    throw new TypeError(
      `listen() expects a Server or a Router, got ${formatValue(answers)}; ${hint}`,
    )
  }
  // HTTP hands on WebSockets alone: its sessions are attached where they begin.
  const envelope = { transport: { name: kind === 'http' ? 'websocket' : kind } }
  return {
    serve: channel => answers.attach(channel, envelope),
    traffic: answers.traffic,
    onAddress: pagesBinder(options),
    decode: { ...endpointDecodeOptions(answers), ...defined(options.decode) },
    service: async path => {
      const sse = { events: '/sse', messages: '/messages' }
      const http = { sse, ...options, ...options.http, path, hasWebSockets: true, auth }
      const main = await withOptionalPages(await httpService(answers, http, options), options)
      const service = await withOptionalPart(main, options)
      if (options.ops === undefined) return service
      const { withOps } = await import('./observe/health/health.ts')
      return withOps(service, options.ops)
    },
  }
}

/** Creates the handler of an endpoint: of this process alone, or as a node of a cluster. */
async function httpService(
  endpoint: Endpoint,
  http: HttpListenerOptions & { readonly path: string },
  { backplane, cluster = {} }: ListenOptions,
): Promise<HttpHandler> {
  if (backplane !== undefined) {
    const { clusteredService } = await import('./cluster/service.ts')
    return clusteredService(endpoint, http, { backplane, options: cluster })
  }
  const { HttpService } = await import('./http/server/service.ts')
  return new HttpService(endpoint, http)
}

async function withOptionalPages(
  service: HttpHandler,
  { pages }: ListenOptions,
): Promise<HttpHandler> {
  if (pages === undefined) return service
  const { withPages } = await import('./http/server/with-pages.ts')
  return withPages(service, pages)
}

async function withOptionalPart(
  service: HttpHandler,
  { beside: part }: ListenOptions,
): Promise<HttpHandler> {
  if (part === undefined) return service
  const { beside } = await import('./http/beside.ts')
  return beside(service, part)
}

/** Returns a function that tells the pages their address, and who can visit them. */
function pagesBinder({ pages, auth }: ListenOptions): ((address: string) => void) | undefined {
  if (pages === undefined) return undefined
  const { verify = [] } = auth !== undefined && 'verify' in auth ? auth : {}
  const verifiers = [verify].flat().map(({ name }) => name)
  return address => servedPages(pages).bind(address, verifiers)
}

function rpcServing(
  answers: Answers,
  options: RpcListenOptions,
  auth: Authenticator | undefined,
): ProtocolServing {
  const handler = handlerOf(answers)
  const { decode, peer: chosen } = settings(options)
  const peerOptions = { onError: options.onError, ...chosen }
  const serve = (channel: Channel): Peer => {
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
      auth,
    })
  }
  return { serve, decode, service }
}

/** Passes a new peer to `onPeer`. An error that it throws goes to `onError`, not to the process. */
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
