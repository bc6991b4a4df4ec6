import type { Client } from './client/client.ts'
import type { AnyPrompts, AnyTools } from './client/requests/call-types.ts'
import type { DecodeOptions } from './jsonrpc/codec/decode.ts'
import type { Handler, Method } from './jsonrpc/handler.ts'
import { decodeTable, peerTable } from './jsonrpc/option-table.ts'
import type { PeerOptions } from './jsonrpc/peer/options.ts'
import type { Peer } from './jsonrpc/peer/peer.ts'
import type { Endpoint } from './mcp/endpoint.ts'
import { peerOptions } from './mcp/errors/wire.ts'
import { decodeOptions, type Profile, type ProfileName, profile, profiles } from './mcp/profile.ts'
import { defined, isRecord } from './util/objects.ts'
import { checkOptions, formatValue, type OptionTable, type OptionTableOf } from './util/options.ts'
import type { FramingName } from './wire/frame.ts'
import { framing } from './wire/framing.ts'

/**
 * Handles plain JSON-RPC: one function for all methods, or an object with a function for each method,
 * which is called as a method of that object.
 *
 * Every member of a plain object must be a function. Of an instance of a class, peers can call the
 * methods of the class, including those that TypeScript declares private; its other members are ignored.
 */
export type Answers = Handler | Readonly<Record<string, Method>> | object

/**
 * For each protocol, the type that `listen` serves and the type that `connect` returns. `Tools` and `Prompts`
 * are what the compiler knows of the server.
 */
export interface Protocols<Tools = AnyTools, Prompts = AnyPrompts> {
  /** The Model Context Protocol, which is the default. */
  readonly mcp: {
    /** A `Server` or a `Router`. */
    readonly serves: Endpoint
    /** A client with typed methods. */
    readonly connects: Client<Tools, Prompts>
  }
  /** Plain JSON-RPC 2.0. */
  readonly jsonrpc: {
    /** What answers the calls of each connection. */
    readonly serves: Answers
    /** A peer, which calls and is called. */
    readonly connects: Peer
  }
}

/** The name of a protocol. */
export type Protocol = keyof Protocols

/** How messages are framed, buffered and kept alive on a connection, in either protocol. */
export interface WireOptions {
  /**
   * How messages are framed on a byte stream; by default one per line. WebSockets have frames of
   * their own.
   */
  readonly framing?: FramingName
  /** How incoming messages are decoded, and their limits. */
  readonly decode?: DecodeOptions
  /** Whether writes to a stream are delayed to the end of the current turn of the event loop. */
  readonly flushOnImmediate?: boolean
  /** How many bytes of small messages are combined into one write to a stream. */
  readonly coalesceBytes?: number
  /** How many unsent bytes of one connection make senders wait. */
  readonly highWaterBytes?: number
  /** How many unsent bytes a connection may have; a message beyond them closes it. */
  readonly maxOutboundBytes?: number
  /** How long a connection above `highWaterBytes` may accept no bytes, in milliseconds. */
  readonly stallMs?: number
  /** The interval of pings on a WebSocket, in milliseconds; 0 sends none. */
  readonly pingMs?: number
  /** How long the peer may take to reply to a ping, in milliseconds. */
  readonly pongMs?: number
  /** How many fragments one WebSocket message may have. */
  readonly maxFragments?: number
}

/** Options of plain JSON-RPC. */
export interface RpcOptions {
  readonly protocol: 'jsonrpc'
  /** The choices that JSON-RPC leaves open: a preset or a profile. `'jsonrpc'` by default. */
  readonly profile?: ProfileName | Profile
  /** Options of every peer. */
  readonly peer?: PeerOptions
}

/**
 * Returns the decoder and peer options of the profile, overridden by those that the options name.
 * Throws a TypeError for an unknown profile.
 */
export function settings({
  profile: wanted = 'jsonrpc',
  decode,
  peer,
}: Pick<WireOptions, 'decode'> & Partial<RpcOptions>): {
  readonly decode: DecodeOptions
  readonly peer: PeerOptions
} {
  if (typeof wanted === 'string' ? !Object.hasOwn(profiles, wanted) : !isRecord(wanted)) {
    const names = Object.keys(profiles).join(', ')
    throw new TypeError(`unknown profile ${formatValue(wanted)}; known profiles: ${names}`)
  }
  const rules = profile(wanted)
  return {
    decode: { ...decodeOptions(rules), ...defined(decode) },
    peer: { ...peerOptions(rules), ...defined(peer) },
  }
}

/**
 * Throws a TypeError for unknown or invalid options, before anything is opened. The option `protocol`
 * is checked first, because the known options depend on it.
 */
export function checkProtocolOptions(
  options: unknown,
  tables: Readonly<Record<Protocol, OptionTable>>,
): void {
  const { protocol = 'mcp', framing: named } = isRecord(options) ? options : {}
  // Untyped callers pass anything.
  if (protocol !== 'mcp' && protocol !== 'jsonrpc') {
    throw new TypeError(
      `option "protocol" must be 'mcp' or 'jsonrpc' (got ${formatValue(protocol)})`,
    )
  }
  checkOptions(options, tables[protocol])
  // The check: the table accepts only strings, and `framing` throws for an unknown name.
  if (named !== undefined) framing(named as FramingName)
}

/** Whether a value can be served as MCP: a server, a router, or another object with their methods. */
export function isEndpoint(value: unknown): value is Endpoint {
  return (
    isRecord(value) &&
    typeof Reflect.get(value, 'attach') === 'function' &&
    typeof Reflect.get(value, 'handle') === 'function'
  )
}

/** The kinds of the {@link WireOptions}, for checking what callers pass. */
export const wireTable: OptionTableOf<WireOptions> = {
  framing: 'string',
  decode: decodeTable,
  flushOnImmediate: 'boolean',
  coalesceBytes: 'count',
  highWaterBytes: 'count',
  maxOutboundBytes: 'max',
  stallMs: 'ms',
  pingMs: 'ms',
  pongMs: 'ms',
  maxFragments: 'max',
}

/** The kinds of the {@link RpcOptions}, for checking what callers pass. */
export const rpcTable: OptionTableOf<RpcOptions> = {
  protocol: 'string',
  profile: 'any',
  peer: peerTable,
}
