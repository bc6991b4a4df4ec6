import type { Client } from './client/client.ts'
import type { DecodeOptions } from './jsonrpc/codec/decode.ts'
import type { Handler, Method } from './jsonrpc/handler.ts'
import { decodeTable, peerTable } from './jsonrpc/option-table.ts'
import type { PeerOptions } from './jsonrpc/peer/options.ts'
import type { Peer } from './jsonrpc/peer/peer.ts'
import type { Endpoint } from './mcp/endpoint.ts'
import { type Profile, type ProfileName, profile, profiles } from './mcp/profile.ts'
import { decodeOptions, peerOptions } from './mcp/profile-options.ts'
import { defined } from './util/defined.ts'
import { checkOptions, type OptionTable, type OptionTableOf, shown } from './util/options.ts'
import { isRecord } from './util/record.ts'
import type { FramingName } from './wire/frame.ts'
import { framing } from './wire/framing.ts'

/**
 * What answers plain JSON-RPC: one function for all methods, or an object with a function for each,
 * which is called as a method of that object.
 *
 * Every member of a plain object must be a function. Of an instance of a class, the methods of the
 * class can be called from outside, those TypeScript calls private included, and its other members
 * are its own business.
 */
export type Answers = Handler | Readonly<Record<string, Method>> | object

/** The protocols, each with what a listener of it serves and what a connection of it is. */
export interface Protocols {
  readonly mcp: { readonly serves: Endpoint; readonly connects: Client }
  readonly jsonrpc: { readonly serves: Answers; readonly connects: Peer }
}

export type Protocol = keyof Protocols

/** How messages travel, whatever is said in them. */
export interface WireOptions {
  /**
   * How messages are told apart on a stream of bytes; by default one per line. WebSockets tell them
   * apart by themselves.
   */
  readonly framing?: FramingName
  readonly decode?: DecodeOptions
  /** Whether what is sent on a stream waits for the end of this turn of the event loop. */
  readonly byTurns?: boolean
  /** Bytes of small messages that are gathered into one write to a stream. */
  readonly coalesceBytes?: number
  /** Unsent bytes of one connection at which senders are asked to wait. */
  readonly highWaterBytes?: number
  /** Unsent bytes of one connection at which one more message closes it. */
  readonly maxOutboundBytes?: number
  /** How long a connection may take nothing while more than the high water waits. */
  readonly stallMs?: number
  /** How often the other side of a WebSocket is asked for a sign of life; 0 asks never. */
  readonly pingMs?: number
  /** How long it has to give one. */
  readonly pongMs?: number
  /** Pieces one WebSocket message may come in. */
  readonly maxFragments?: number
}

/** What plain JSON-RPC needs to be told. */
export interface RpcOptions {
  readonly protocol: 'jsonrpc'
  /** The choices JSON-RPC leaves open, by name or one by one; `'jsonrpc'` unless said otherwise. */
  readonly profile?: ProfileName | Profile
  readonly peer?: PeerOptions
}

/**
 * What the profile means for reading and answering, with what the options say themselves on top.
 * Throws a TypeError for a profile that does not exist.
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
    throw new TypeError(`no profile is called ${shown(wanted)}; there are ${names}`)
  }
  const rules = profile(wanted)
  return {
    decode: { ...decodeOptions(rules), ...defined(decode) },
    peer: { ...peerOptions(rules), ...defined(peer) },
  }
}

/**
 * Throws a TypeError for options that do not exist or mean nothing, before anything is opened. Which
 * there are depends on the protocol, which is looked at first.
 */
export function checkProtocolOptions(
  options: unknown,
  tables: Readonly<Record<Protocol, OptionTable>>,
): void {
  const { protocol = 'mcp', framing: named } = isRecord(options) ? options : {}
  // Callers the compiler never saw may write anything.
  if (protocol !== 'mcp' && protocol !== 'jsonrpc') {
    throw new TypeError(`the option "protocol" is 'mcp' or 'jsonrpc', not ${shown(protocol)}`)
  }
  checkOptions(options, tables[protocol])
  // The check: the table lets nothing but a text through, and whether it is a name is looked up here.
  if (named !== undefined) framing(named as FramingName)
}

/** Whether something can be served as MCP: a server, or whatever else answers like one. */
export function isEndpoint(value: unknown): value is Endpoint {
  return (
    isRecord(value) &&
    typeof Reflect.get(value, 'attach') === 'function' &&
    typeof Reflect.get(value, 'handle') === 'function'
  )
}

/** The options of how messages travel, to check what callers have written. */
export const wireTable: OptionTableOf<WireOptions> = {
  framing: 'text',
  decode: decodeTable,
  byTurns: 'flag',
  coalesceBytes: 'count',
  highWaterBytes: 'count',
  maxOutboundBytes: 'most',
  stallMs: 'ms',
  pingMs: 'ms',
  pongMs: 'ms',
  maxFragments: 'most',
}

/** The options of plain JSON-RPC, to check what callers have written. */
export const rpcTable: OptionTableOf<RpcOptions> = {
  protocol: 'text',
  profile: 'any',
  peer: peerTable,
}
