import { clientTable } from './client/option-table.ts'
import type { ClientOptions } from './client/options.ts'
import type { OpeningOptions } from './dial.ts'
import { httpClientTable } from './http/option-table.ts'
import { type Answers, type RpcOptions, rpcTable, wireTable } from './protocol.ts'
import type { OptionTableOf } from './util/options.ts'

/** How a server is connected to, and what it may ask. Each transport takes what it needs. */
export interface ConnectOptions extends OpeningOptions, ClientOptions {
  readonly protocol?: 'mcp'
}

/** How the other side of plain JSON-RPC is connected to. */
export interface RpcConnectOptions extends OpeningOptions, RpcOptions {
  /** What answers the other side when it calls back. */
  readonly methods?: Answers
  /** How long calls wait for their replies, unless the call says otherwise; 0 waits for ever. */
  readonly timeoutMs?: number
}

const { decode: _decode, clock: _clock, onError: _onError, ...http } = httpClientTable

const opening: OptionTableOf<OpeningOptions> = {
  ...wireTable,
  handshakeMs: 'ms',
  signal: 'object',
  headers: 'object',
  subprotocol: 'text',
  websocket: 'flag',
  onWebSocket: 'function',
  http,
  onStderr: 'function',
  stderrBytes: 'count',
  onJunk: 'function',
  junkLines: 'count',
  endMs: 'ms',
  termMs: 'ms',
  onChild: 'function',
  onChannel: 'function',
}

const mcp: OptionTableOf<ConnectOptions> = { ...opening, ...clientTable, protocol: 'text' }

const jsonrpc: OptionTableOf<RpcConnectOptions> = {
  ...opening,
  ...rpcTable,
  // An object, or a function: whatever answers.
  methods: 'any',
  timeoutMs: 'ms',
}

/** The options of connecting by protocol, to check what callers have written. */
export const connectTables = { mcp, jsonrpc }
