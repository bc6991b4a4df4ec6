import type { HttpServerOptions } from './http/node/server.ts'
import { httpServerTable, httpTable } from './http/option-table.ts'
import type { HttpOptions } from './http/server/service.ts'
import type { RpcNotification, RpcRequest } from './jsonrpc/message.ts'
import type { Peer } from './jsonrpc/peer/peer.ts'
import type { Ops } from './observe/health/health.ts'
import { type RpcOptions, rpcTable, type WireOptions, wireTable } from './protocol.ts'
import type { OptionTableOf } from './util/options.ts'

/** Options of `listen`. One object is valid for any address; each transport reads the options it needs. */
export interface ListenOptions extends WireOptions {
  readonly protocol?: 'mcp'
  /** How many connections may be open at a time; further ones are closed at once. */
  readonly maxConnections?: number
  /** Additional accepted `Host` values over HTTP and WebSocket, such as the name of a proxy. */
  readonly allowedHosts?: readonly string[]
  /** Origins of web pages that may connect, such as `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[]
  /** How long `close` waits for requests in flight, in milliseconds. */
  readonly drainMs?: number
  /** Options of HTTP alone. */
  readonly http?: Omit<HttpOptions, 'path' | 'decode' | 'allowedHosts' | 'allowedOrigins'> &
    HttpServerOptions
  /** Serves `/healthz`, `/readyz` and `/metrics` beside the server, over HTTP: see `observe`. */
  readonly ops?: Ops
  /** Called for every connection that was refused or could not be accepted. */
  readonly onError?: (error: unknown) => void
}

/** Options of `listen` for plain JSON-RPC. */
export interface RpcListenOptions
  extends Omit<ListenOptions, 'protocol' | 'ops' | 'onError'>,
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

const {
  path: _path,
  decode: _decode,
  allowedHosts: _hosts,
  allowedOrigins: _origins,
  ...overHttp
} = httpTable

const http: OptionTableOf<NonNullable<ListenOptions['http']>> = { ...overHttp, ...httpServerTable }

const mcp: OptionTableOf<ListenOptions> = {
  ...wireTable,
  protocol: 'string',
  maxConnections: 'max',
  allowedHosts: 'strings',
  allowedOrigins: 'strings',
  drainMs: 'ms',
  http,
  ops: 'object',
  onError: 'function',
}

const { ops: _ops, ...shared } = mcp

const jsonrpc: OptionTableOf<RpcListenOptions> = {
  ...shared,
  ...rpcTable,
  onPeer: 'function',
}

/** The options of `listen` for each protocol, for checking what callers pass. */
export const listenTables = { mcp, jsonrpc }
