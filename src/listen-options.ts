import type { HttpTimeouts } from './http/node/server.ts'
import { httpTable, timeoutsTable } from './http/option-table.ts'
import type { HttpOptions } from './http/server/service.ts'
import type { RpcNotification, RpcRequest } from './jsonrpc/message.ts'
import type { Peer } from './jsonrpc/peer/peer.ts'
import type { Ops } from './observe/health/health.ts'
import { type RpcOptions, rpcTable, type WireOptions, wireTable } from './protocol.ts'
import type { OptionTableOf } from './util/options.ts'

/** How a server is served on an address. One object is good for any address, and takes what it needs. */
export interface ListenOptions extends WireOptions {
  readonly protocol?: 'mcp'
  /** Connections at one time; further ones are closed at once. */
  readonly maxConnections?: number
  /** Further `Host` values under which a WebSocket is opened, such as the name of a proxy. */
  readonly allowedHosts?: readonly string[]
  /** Web pages that may open a WebSocket, such as `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[]
  /** How long `close` waits for requests in flight. */
  readonly drainMs?: number
  /** What is special about HTTP. */
  readonly http?: Omit<HttpOptions, 'path' | 'decode' | 'allowedHosts' | 'allowedOrigins'> &
    HttpTimeouts
  /** Answers `/healthz`, `/readyz` and `/metrics` beside the server, over HTTP: see `observe`. */
  readonly ops?: Ops
  /** Told of connections that were refused or could not be accepted. */
  readonly onError?: (error: unknown) => void
}

export interface RpcListenOptions
  extends Omit<ListenOptions, 'protocol' | 'ops' | 'onError'>,
    RpcOptions {
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

const {
  path: _path,
  decode: _decode,
  allowedHosts: _hosts,
  allowedOrigins: _origins,
  ...overHttp
} = httpTable

const http: OptionTableOf<NonNullable<ListenOptions['http']>> = { ...overHttp, ...timeoutsTable }

const mcp: OptionTableOf<ListenOptions> = {
  ...wireTable,
  protocol: 'text',
  maxConnections: 'most',
  allowedHosts: 'texts',
  allowedOrigins: 'texts',
  drainMs: 'ms',
  http,
  ops: 'object',
  onError: 'function',
}

const { ops: _ops, ...whateverIsServed } = mcp

const jsonrpc: OptionTableOf<RpcListenOptions> = {
  ...whateverIsServed,
  ...rpcTable,
  onPeer: 'function',
}

/** The options of listening by protocol, to check what callers have written. */
export const listenTables = { mcp, jsonrpc }
