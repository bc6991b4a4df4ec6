import type { DecodeOptions } from './jsonrpc/decode.ts'
import { type Handler, type Method, methods } from './jsonrpc/handler.ts'
import type { Peer, PeerOptions } from './jsonrpc/peer.ts'
import { type Profile, type ProfileName, profile } from './mcp/profile.ts'
import { decodeOptions, peerOptions } from './mcp/profile-options.ts'
import { defined } from './util/defined.ts'
import type { FramingName } from './wire/frame.ts'
import { framing } from './wire/framing.ts'

/** What answers plain JSON-RPC: one function for all methods, or a function for each. */
export type Answers = Handler | Readonly<Record<string, Method>>

/** The protocols, each with what a listener of it serves and what a connection of it is. */
export interface Protocols {
  readonly jsonrpc: { readonly serves: Answers; readonly connects: Peer }
}

export type Protocol = keyof Protocols

/** What listening and connecting have in common. */
export interface WireOptions<P extends Protocol> {
  readonly protocol: P
  /** The choices JSON-RPC leaves open, by name or one by one; `'jsonrpc'` unless said otherwise. */
  readonly profile?: ProfileName | Profile
  /**
   * How messages are told apart on a stream of bytes; by default one per line. WebSockets tell them
   * apart by themselves.
   */
  readonly framing?: FramingName
  readonly decode?: DecodeOptions
  readonly peer?: PeerOptions
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

/** What the profile means for reading and answering, with what the options say themselves on top. */
export function settings({ profile: wanted = 'jsonrpc', decode, peer }: WireOptions<Protocol>): {
  readonly decode: DecodeOptions
  readonly peer: PeerOptions
} {
  const rules = profile(wanted)
  return {
    decode: { ...decodeOptions(rules), ...defined(decode) },
    peer: { ...peerOptions(rules), ...defined(peer) },
  }
}

/** Throws a TypeError for options that mean nothing, before anything is opened. */
export function checkOptions(options: WireOptions<Protocol> | undefined): void {
  // Callers the compiler never saw may leave out what is required.
  if (options?.protocol !== 'jsonrpc') {
    throw new TypeError(`the option "protocol" is needed, and is 'jsonrpc'`)
  }
  if (options.framing !== undefined) framing(options.framing)
}

/** The handler of some answers. Throws a TypeError for method names that are reserved. */
export function handlerOf(answers: Answers): Handler {
  return typeof answers === 'function' ? answers : methods(answers)
}
