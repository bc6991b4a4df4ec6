import { clientTable } from './client/option-table.ts'
import type { ClientOptions } from './client/options.ts'
import type { HttpClientOptions } from './http/client/channel.ts'
import { httpClientTable } from './http/option-table.ts'
import type { Channel, Principal } from './jsonrpc/channel.ts'
import type { Credentials } from './mcp/credentials.ts'
import { type Answers, type RpcOptions, rpcTable, type WireOptions, wireTable } from './protocol.ts'
import type { ChildProcess, ChildProcessOptions } from './transport/process/child.ts'
import type { OptionTableOf } from './util/options.ts'

/** How a connection is opened, in either protocol. Each transport reads the options it needs. */
export interface DialOptions extends WireOptions, ChildProcessOptions {
  /** How long opening may take, in milliseconds. */
  readonly handshakeMs?: number
  /** Aborts opening. It has no effect on an open connection. */
  readonly signal?: AbortSignal
  /**
   * Sent with the handshake of a WebSocket, and with every request over HTTP. A server of this process gets
   * them as the headers of each request.
   */
  readonly headers?: Readonly<Record<string, string>>
  /** Authorizes every request over HTTP, and the handshake of a WebSocket. */
  readonly auth?: Credentials
  /**
   * The certificates of authorities to trust over `https:` and `wss:`, as PEM text, instead of those that
   * Node.js trusts.
   */
  readonly ca?: string
  /** Offered in the handshake of a WebSocket; a server that does not select it is accepted too. */
  readonly subprotocol?: string
  /**
   * Over HTTP: whether calls go over a WebSocket to the same address, if the server is stateless and
   * announces one, as servers of this package do. HTTP is used until it is open, and for requests that
   * need a stream of their own. Ignored if `http.fetch` is given.
   */
  readonly websocket?: boolean
  /** Called with true when calls start to go over such a WebSocket, with false when it has closed. */
  readonly onWebSocket?: (isOpen: boolean) => void
  /** Options of HTTP alone, such as headers that change, or a custom `fetch`. */
  readonly http?: Omit<HttpClientOptions, 'auth' | 'decode' | 'clock' | 'onError' | 'ca'>
  /**
   * For a server of this process: the identity of the caller, as authentication would establish it. Tests
   * call the tools of a user with it.
   */
  readonly principal?: Principal
  /** Called with every child process that was started: its process id and its stderr output. */
  readonly onChild?: (child: ChildProcess) => void
  /** Called with each channel before it is used, to observe or record it; the returned channel is used. */
  readonly onChannel?: (channel: Channel) => Channel
}

/** How `connect` authorizes its requests. */
export interface ConnectAuth {
  /**
   * Authorizes every request over HTTP, the handshake of a WebSocket, and the first message over a socket:
   * `oauth(…)`, `bearer(…)` or another function of `trunkline/auth`; over a socket `bearer(…)`. `'stored'` uses the tokens of `trunkline login`.
   */
  readonly auth?: Credentials | 'stored'
}

/** How `connect` reaches an MCP server, and what that server may request. */
export interface ConnectOptions extends Omit<DialOptions, 'auth'>, ConnectAuth, ClientOptions {
  /** The protocol; MCP by default. */
  readonly protocol?: 'mcp'
}

/** How `connect` reaches a peer that speaks plain JSON-RPC. */
export interface RpcConnectOptions extends Omit<DialOptions, 'auth'>, ConnectAuth, RpcOptions {
  /** Handles the requests of the peer. */
  readonly methods?: Answers
  /** The default timeout of calls, in milliseconds; 0 means none. */
  readonly timeoutMs?: number
}

/** The options of `connect`, by protocol. */
export interface ConnectOptionsBy {
  /** To an MCP server. */
  readonly mcp: ConnectOptions
  /** To a peer that speaks plain JSON-RPC. */
  readonly jsonrpc: RpcConnectOptions
}

const {
  auth: _auth,
  decode: _decode,
  clock: _clock,
  onError: _onError,
  ca: _ca,
  ...http
} = httpClientTable

const dialing: OptionTableOf<DialOptions> = {
  ...wireTable,
  handshakeMs: 'ms',
  signal: 'object',
  headers: 'object',
  // An object or a word.
  auth: 'any',
  ca: 'string',
  subprotocol: 'string',
  websocket: 'boolean',
  onWebSocket: 'function',
  http,
  principal: 'object',
  onStderr: 'function',
  stderrBytes: 'count',
  onJunk: 'function',
  junkLines: 'count',
  endMs: 'ms',
  termMs: 'ms',
  onChild: 'function',
  onChannel: 'function',
}

/** Options that mean something to a client without a connection over some transport. */
const withoutConnection = new Set(['headers', 'principal', 'signal'])

/** The options of a connection over some transport, which a server of this process has none of. */
export const connectionOptions: ReadonlySet<string> = new Set(
  Object.keys(dialing).filter(name => !withoutConnection.has(name)),
)

const mcp: OptionTableOf<ConnectOptions> = { ...dialing, ...clientTable, protocol: 'string' }

const jsonrpc: OptionTableOf<RpcConnectOptions> = {
  ...dialing,
  ...rpcTable,
  // An object or a function.
  methods: 'any',
  timeoutMs: 'ms',
}

/** The options of `connect` for each protocol, for checking what callers pass. */
export const connectTables = { mcp, jsonrpc }
