import type { ClientOptions } from './client/options.ts'
import type { DialOptions } from './connect-options.ts'
import type { HttpHandler } from './http/exchange.ts'
import { type Channel, ChannelError } from './jsonrpc/channel.ts'
import type { ListenOptions, RpcListenOptions } from './listen-options.ts'
import type { Authenticator } from './mcp/authenticator.ts'
import { openWithCredentials } from './mcp/credentials.ts'
import type { Attachment } from './mcp/endpoint.ts'
import type { Listener, TransportListener } from './transport/listener.ts'
import { trustedProxies } from './transport/trusted-proxies.ts'
import { defined } from './util/objects.ts'
import type { Traffic } from './util/traffic.ts'

/** A parsed address to listen on or connect to. */
export type Address =
  | { readonly kind: 'stdio' }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'pipe'; readonly path: string }
  | { readonly kind: 'websocket'; readonly url: URL }
  | { readonly kind: 'http'; readonly url: URL }

/** Where an address is: a host and a port, or a file. */
export type Place =
  | {
      readonly type: 'network'
      /** Without brackets. */
      readonly host: string
      readonly port: number
      readonly isSecure: boolean
      /** The path of a URL; empty for a plain socket. */
      readonly path: string
    }
  | { readonly type: 'file'; readonly path: string }

/** The address of one kind. */
export type AddressOf<K extends Address['kind']> = Extract<Address, { readonly kind: K }>

/** The options that a transport gets to dial. */
export type TransportDialOptions = DialOptions &
  Pick<ClientOptions, 'clock' | 'onError'> & {
    /** Counts the bytes of the connection. */
    readonly traffic?: Traffic
  }

/** The options that a transport gets to listen. */
export type TransportListenOptions = Omit<ListenOptions | RpcListenOptions, 'auth'> & {
  /** Authenticates the callers of transports that start with an HTTP request. */
  readonly auth?: Authenticator | undefined
  /** Creates the handler of HTTP requests on a path. */
  readonly service: (path: string) => Promise<HttpHandler>
  /** Counts the bytes of all connections. */
  readonly traffic?: Traffic
}

/** A connection that is being served. */
export type Served = Pick<Attachment, 'closed' | 'close'>

/** Starts serving a connection that a listener has accepted. */
export type Accept = (channel: Channel) => Served

/**
 * One transport. To add a transport, add a member to {@link Address} and a row to {@link transports}:
 * addresses, `listen`, `connect` and the flags of `serve` follow from it.
 *
 * `dial` and `listen` load the module of the transport when they are called, so that a program loads
 * only the transports that it uses.
 */
export interface Transport<A extends Address = Address> {
  readonly kind: A['kind']
  /** The scheme of its addresses, in lower case. `serve` has a flag of the same name. */
  readonly scheme: string
  /** The scheme of its addresses over TLS. `serve` has a flag of the same name. */
  readonly secureScheme?: string
  /** The form of its addresses, for error messages. */
  readonly form: string
  /**
   * What follows the scheme in an address, and so what the flag of `serve` takes. Connections to a `'url'`
   * start with an HTTP request: they carry headers, and one listener serves all such transports.
   */
  readonly locator: 'none' | 'path' | 'port' | 'url'
  /**
   * Parses what follows the colon of an address. Throws an Error if it is malformed. The message gives the
   * reason and never repeats the address, which may contain a password.
   */
  parse(rest: string, scheme: string): A
  /** Returns why its addresses cannot be used on a platform; undefined if they can. */
  unavailable?(platform: string): string | undefined
  /** Returns where an address is; undefined for standard input and output. */
  place(address: A): Place | undefined
  /** Opens a connection. Rejects with a ChannelError `'refused'` or `'timeout'` that names the address. */
  dial(address: A, options: TransportDialOptions): Promise<Channel>
  /** Binds an address and hands every connection to `accept`. Rejects with a ChannelError `'refused'`. */
  listen(address: A, options: TransportListenOptions, accept: Accept): Promise<TransportListener>
}

const stdio: Transport<AddressOf<'stdio'>> = {
  kind: 'stdio',
  scheme: 'stdio',
  form: 'stdio:',
  locator: 'none',
  parse: rest => {
    if (rest !== '') throw new Error('nothing may follow "stdio:"')
    return { kind: 'stdio' }
  },
  place: () => undefined,
  dial: async (_, options) => {
    const { stdioChannel } = await import('./transport/stdio.ts')
    return stdioChannel(withoutOnJunk(options))
  },
  listen: async (_, options, accept) => {
    const { stdioChannel } = await import('./transport/stdio.ts')
    const served = accept(stdioChannel(options))
    const close = (): Promise<void> => served.close()
    return {
      address: 'stdio:',
      ended: served.closed.then(() => {}),
      stop: () => {},
      close,
      [Symbol.asyncDispose]: close,
    }
  },
}

const tcp: Transport<AddressOf<'tcp'>> = {
  kind: 'tcp',
  scheme: 'tcp',
  form: 'tcp://host:port',
  locator: 'port',
  parse: rest => {
    // Not with the URL class, which parses neither hosts of unknown schemes nor empty hosts.
    const match = /^\/\/(?:\[([^\]]+)\]|([^:/?#@[\]\s]*)):(\d{1,5})\/?$/.exec(rest)
    if (match === null) throw new Error('a host and a port are needed')
    const port = Number(match[3])
    if (port > 65_535) throw new Error('the port is above 65535')
    return { kind: 'tcp', host: match[1] ?? (match[2] || 'localhost'), port }
  },
  place: ({ host, port }) => ({ type: 'network', host, port, isSecure: false, path: '' }),
  dial: dialSocket,
  listen: listenSocket,
}

const unix: Transport<AddressOf<'unix'>> = {
  kind: 'unix',
  scheme: 'unix',
  form: 'unix:path',
  locator: 'path',
  parse: rest => {
    const path = rest.startsWith('///') ? rest.slice(2) : rest
    if (path === '' || path === '/') throw new Error('a path is needed')
    if (path.startsWith('//')) throw new Error('a socket file has no host')
    // A path that starts with NUL would be in Linux's abstract namespace, which has no file modes.
    if (path.includes('\0')) throw new Error('a path must not contain NUL')
    return { kind: 'unix', path }
  },
  place: ({ path }) => ({ type: 'file', path }),
  unavailable: platform =>
    platform === 'win32' ? 'does not exist on Windows; use pipe:name here' : undefined,
  dial: dialSocket,
  listen: listenSocket,
}

const pipe: Transport<AddressOf<'pipe'>> = {
  kind: 'pipe',
  scheme: 'pipe',
  form: 'pipe:name',
  locator: 'path',
  parse: rest => {
    if (!/^[^\\/\0]+$/.test(rest)) throw new Error('the name of a pipe has no slashes')
    return { kind: 'pipe', path: `\\\\.\\pipe\\${rest}` }
  },
  place: ({ path }) => ({ type: 'file', path }),
  unavailable: platform =>
    platform === 'win32' ? undefined : 'exists only on Windows; use unix:path here',
  dial: dialSocket,
  listen: listenSocket,
}

const websocket: Transport<AddressOf<'websocket'>> = {
  kind: 'websocket',
  scheme: 'ws',
  secureScheme: 'wss',
  form: 'ws://host:port/path',
  locator: 'url',
  parse: (rest, scheme) => ({ kind: 'websocket', url: parseUrl(rest, scheme) }),
  place: ({ url }) => placeOfUrl(url),
  dial: async ({ url }, options) => {
    const { connectWebSocket, HandshakeStatusError } = await import(
      './transport/websocket/connect.ts'
    )
    const { auth, headers, signal } = options
    if (auth === undefined) return connectWebSocket(url, options)
    // The same address as of an HTTP request, by which resources are named.
    const server = new URL(url)
    server.protocol = url.protocol === 'wss:' ? 'https:' : 'http:'
    return openWithCredentials(
      auth,
      server,
      sent => connectWebSocket(url, { ...options, headers: { ...headers, ...sent } }),
      error => {
        const cause = error instanceof ChannelError ? error.cause : undefined
        return cause instanceof HandshakeStatusError ? cause : undefined
      },
      signal,
    )
  },
  listen: async ({ url }, options, accept) => {
    const { listenWebSocket } = await import('./transport/websocket/server.ts')
    const { auth } = options
    if (auth === undefined) return listenWebSocket(url, options, accept)
    const { handshakeGuard } = await import('./listen-auth.ts')
    const isProxy = options.trustedProxies && trustedProxies(options.trustedProxies)
    const authenticate = await handshakeGuard(auth, isProxy)
    const listener = await listenWebSocket(url, { ...options, authenticate }, accept)
    auth.bind(listener.address.replace(/^ws/, 'http'))
    return listener
  },
}

const http: Transport<AddressOf<'http'>> = {
  kind: 'http',
  scheme: 'http',
  secureScheme: 'https',
  form: 'http://host:port/path',
  locator: 'url',
  parse: (rest, scheme) => ({ kind: 'http', url: parseUrl(rest, scheme) }),
  place: ({ url }) => placeOfUrl(url),
  dial: async ({ url }, options) => {
    const { headers, auth, ca, decode, clock, onError, websocket, onWebSocket, traffic } = options
    const http = { headers, ...defined(options.http), auth, ca, decode, clock, onError }
    if (websocket !== true || http.fetch !== undefined) {
      const { httpChannel } = await import('./http/client/channel.ts')
      return httpChannel(url, http, { traffic })
    }
    const { httpWithWebSocket } = await import('./http/client/websocket.ts')
    return httpWithWebSocket(url, http, {
      dial: async (target, dialing) => {
        const { connectWebSocket } = await import('./transport/websocket/connect.ts')
        return connectWebSocket(target, { ...options, ...dialing, joins: true })
      },
      onChange: onWebSocket,
      traffic,
    })
  },
  listen: async ({ url }, options, accept) => {
    const { listenHttp } = await import('./listen-http.ts')
    return listenHttp(url, options, accept)
  },
}

/** The row of each kind of address. */
const rows: { readonly [K in Address['kind']]: Transport<AddressOf<K>> } = {
  stdio,
  tcp,
  unix,
  pipe,
  websocket,
  http,
}

/** Every transport, in the order in which messages list them. */
export const transports: readonly Transport[] = Object.values(rows)

const byScheme = new Map<string, Transport>()
for (const transport of transports) {
  byScheme.set(transport.scheme, transport)
  if (transport.secureScheme !== undefined) byScheme.set(transport.secureScheme, transport)
}

/** Returns the transport with a scheme, with or without TLS; undefined if there is none. */
export function transportForScheme(scheme: string): Transport | undefined {
  return byScheme.get(scheme)
}

/** Returns where an address is; undefined for standard input and output. */
export function placeOf(address: Address): Place | undefined {
  return transportOf(address).place(address)
}

/** Returns the transport of an address. */
export function transportOf({ kind }: Address): Transport {
  // The check: the table has the row of each kind under its name.
  return rows[kind] as Transport
}

type SocketAddress = AddressOf<'tcp' | 'unix' | 'pipe'>

async function dialSocket(address: SocketAddress, options: TransportDialOptions): Promise<Channel> {
  const { connectSocket } = await import('./transport/socket/socket.ts')
  const connect = () => connectSocket(address, withoutOnJunk(options))
  const { auth: credentials, signal, clock } = options
  if (credentials === undefined) return connect()
  const { authenticatedSocket } = await import('./auth/client/authenticated-socket.ts')
  const server = urlOfSocket(address)
  return authenticatedSocket({ server, credentials, connect, signal, clock })
}

/** The URL by which credentials know the server at a socket. */
function urlOfSocket(address: SocketAddress): URL {
  if (address.kind !== 'tcp') return new URL(`${address.kind}:${encodeURI(address.path)}`)
  const { host, port } = address
  return new URL(`tcp://${host.includes(':') ? `[${host}]` : host}:${port}`)
}

async function listenSocket(
  address: SocketAddress,
  options: TransportListenOptions,
  accept: Accept,
): Promise<Listener> {
  const socket = await import('./transport/socket/socket.ts')
  return socket.listenSocket(address, options, accept)
}

/** Removes `onJunk`, which is meant for child processes and has another meaning for other streams. */
function withoutOnJunk({
  onJunk: _,
  ...options
}: TransportDialOptions): Omit<TransportDialOptions, 'onJunk'> {
  return options
}

function placeOfUrl({ hostname, port, protocol, pathname }: URL): Place {
  const isSecure = protocol === 'https:' || protocol === 'wss:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const number = port === '' ? (isSecure ? 443 : 80) : Number(port)
  return { type: 'network', host, port: number, isSecure, path: pathname }
}

function parseUrl(rest: string, scheme: string): URL {
  const withHost = rest.startsWith('//:') ? `//localhost${rest.slice(2)}` : rest
  // Checked here because the URL class accepts any number of slashes before the host.
  if (!/^\/\/[^/?#\\]/.test(withHost)) throw new Error('a host is needed')
  let url: URL
  try {
    url = new URL(`${scheme}:${withHost}`)
  } catch {
    throw new Error('it is not a valid URL')
  }
  if (url.hash !== '') throw new Error('a fragment is never sent')
  return url
}
