import type { AuthOptions } from './auth/server/auth-options.ts'
import type { Backplane } from './backplane/backplane.ts'
import { type ClusterOptions, clusterTable } from './cluster/options.ts'
import type { PathHandler } from './http/beside.ts'
import type { HttpServerOptions } from './http/node/server.ts'
import { httpServerTable, httpTable } from './http/option-table.ts'
import type { HttpOptions } from './http/server/options.ts'
import type { RpcNotification, RpcRequest } from './jsonrpc/message.ts'
import type { Peer } from './jsonrpc/peer/peer.ts'
import type { Authenticator } from './mcp/authenticator.ts'
import type { ConnectPages } from './mcp/callers/connect-pages.ts'
import type { Ops } from './observe/health/health.ts'
import { type RpcOptions, rpcTable, type WireOptions, wireTable } from './protocol.ts'
import type { TlsOptions } from './transport/tls/certificate.ts'
import type { OptionTableOf } from './util/options.ts'

/** Options of `listen`. One object is valid for any address; each transport reads the options it needs. */
export interface ListenOptions extends WireOptions {
  /** The protocol; MCP by default. */
  readonly protocol?: 'mcp'
  /** How many connections may be open at a time; further ones are closed at once. */
  readonly maxConnections?: number
  /**
   * How many connections one client address may have open at a time; further ones are closed at once. If
   * it is set, it also holds for addresses of this machine and of private networks.
   */
  readonly maxConnectionsPerAddress?: number
  /**
   * Addresses or networks of proxies in front, such as `10.0.0.0/8`: their connections are not limited,
   * and their `X-Forwarded-For` names the client.
   */
  readonly trustedProxies?: readonly string[]
  /**
   * How many bytes of incomplete requests and unread responses all connections may hold together. Beyond
   * it further requests wait to be read, and clients that read nothing are disconnected.
   */
  readonly maxHeldBytes?: number
  /**
   * How long a request waits to be read while there is no room for it, in milliseconds. Then it is
   * refused: over HTTP with 503, otherwise by closing the connection.
   */
  readonly heldWaitMs?: number
  /**
   * How many bytes of memory requests in flight may take together. Further requests are refused: over
   * HTTP with 503, otherwise with the error -32000.
   */
  readonly maxRequestBytes?: number
  /** Additional accepted `Host` values over HTTP and WebSocket, such as the name of a proxy. */
  readonly allowedHosts?: readonly string[]
  /** Origins of web pages that may connect, such as `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[]
  /** How long `close` waits for requests in flight, in milliseconds. */
  readonly drainMs?: number
  /**
   * Over HTTP: how long `close` goes on accepting connections while `/readyz` returns 503, in
   * milliseconds, so that load balancers learn of it before the first connection is refused. 0 by default.
   */
  readonly lameDuckMs?: number
  /** The certificate for `https:` and `wss:` addresses, as PEM text or as paths. Changed files are read again. */
  readonly tls?: TlsOptions
  /**
   * Who may call, and how callers prove who they are: see `trunkline/auth`. Without it everybody who can
   * reach the address may call.
   */
  readonly auth?: AuthOptions | Authenticator
  /** Options of HTTP alone. */
  readonly http?: Omit<
    HttpOptions,
    'path' | 'decode' | 'allowedHosts' | 'allowedOrigins' | 'auth'
  > &
    HttpServerOptions
  /** Serves the pages on which users allow a router to act for them, over HTTP: see `connectPages` of `trunkline/auth`. */
  readonly pages?: ConnectPages
  /**
   * Shares sessions with the other nodes of a cluster, over HTTP: any node serves any session, and the sessions of a
   * node that ends go on at another. See `redis` of `trunkline/redis`. The caller closes it, after the listener.
   */
  readonly backplane?: Backplane
  /** How this listener takes part in the cluster. */
  readonly cluster?: ClusterOptions
  /** Serves `/healthz`, `/readyz` and `/metrics` beside the server, over HTTP: see `observe`. */
  readonly ops?: Ops
  /** Serves further paths beside the server, over HTTP, such as the console: see `consoleOf` of `trunkline/console`. */
  readonly beside?: PathHandler
  /** Called for every connection that was refused or could not be accepted. */
  readonly onError?: (error: unknown) => void
}

/** Options of `listen` for plain JSON-RPC. */
export interface RpcListenOptions
  extends Omit<
      ListenOptions,
      'protocol' | 'ops' | 'pages' | 'beside' | 'backplane' | 'cluster' | 'onError'
    >,
    RpcOptions {
  /**
   * Called with the peer of each connection before its first message, so that the server can call the
   * client. `peer.closed` resolves when the connection closes. The listener closes the peer.
   */
  readonly onPeer?: (peer: Peer) => void
  /**
   * Called with every exception of a handler that the caller does not see, and its message; and for
   * connections that were refused or could not be accepted. By default exceptions are printed on stderr.
   */
  readonly onError?: (error: unknown, message?: RpcRequest | RpcNotification) => void
}

/** The options of `listen`, by protocol. */
export interface ListenOptionsBy {
  /** Of a `Server` or a `Router`. */
  readonly mcp: ListenOptions
  /** Of plain methods. */
  readonly jsonrpc: RpcListenOptions
}

const {
  path: _path,
  decode: _decode,
  allowedHosts: _hosts,
  allowedOrigins: _origins,
  auth: _auth,
  ...overHttp
} = httpTable

const http: OptionTableOf<NonNullable<ListenOptions['http']>> = { ...overHttp, ...httpServerTable }

const tls: OptionTableOf<TlsOptions> = { cert: 'string', key: 'string', passphrase: 'string' }

const mcp: OptionTableOf<ListenOptions> = {
  ...wireTable,
  protocol: 'string',
  maxConnections: 'max',
  maxConnectionsPerAddress: 'max',
  trustedProxies: 'strings',
  maxHeldBytes: 'max',
  heldWaitMs: 'ms',
  maxRequestBytes: 'max',
  allowedHosts: 'strings',
  allowedOrigins: 'strings',
  drainMs: 'ms',
  lameDuckMs: 'ms',
  tls,
  auth: 'object',
  http,
  ops: 'object',
  pages: 'object',
  backplane: 'object',
  cluster: clusterTable,
  beside: 'object',
  onError: 'function',
}

const {
  ops: _ops,
  pages: _pages,
  beside: _beside,
  backplane: _backplane,
  cluster: _cluster,
  ...shared
} = mcp

const jsonrpc: OptionTableOf<RpcListenOptions> = {
  ...shared,
  ...rpcTable,
  onPeer: 'function',
}

/** The options of `listen` for each protocol, for checking what callers pass. */
export const listenTables = { mcp, jsonrpc }
