import type { DecodeOptions } from './jsonrpc/decode.ts'
import type { Handler, Method } from './jsonrpc/handler.ts'
import type { Peer } from './jsonrpc/peer.ts'
import type { PeerOptions } from './jsonrpc/peer-options.ts'
import { type Profile, type ProfileName, profile, profiles } from './mcp/profile.ts'
import { decodeOptions, peerOptions } from './mcp/profile-options.ts'
import { defined } from './util/defined.ts'
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

/**
 * What the profile means for reading and answering, with what the options say themselves on top.
 * Throws a TypeError for a profile that does not exist.
 */
export function settings({ profile: wanted = 'jsonrpc', decode, peer }: WireOptions<Protocol>): {
  readonly decode: DecodeOptions
  readonly peer: PeerOptions
} {
  if (typeof wanted === 'string' ? !Object.hasOwn(profiles, wanted) : !isObject(wanted)) {
    const names = Object.keys(profiles).join(', ')
    throw new TypeError(`no profile is called ${shown(wanted)}; there are ${names}`)
  }
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
  checkNumbers(options)
  for (const group of ['decode', 'peer'] as const) {
    const members = options[group]
    if (members === undefined) continue
    if (!isObject(members)) throw new TypeError(`the option "${group}" is an object of options`)
    checkNumbers(members, `${group}.`)
  }
}

/** Any value in an error message, in few characters. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100))
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'an array'
  return isObject(value) ? 'an object' : String(value)
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const isLimit = /^max(?!Id$)|(?:Ms|Bytes|Lines)$/
/** What a timer of Node can wait; a longer one would be over at once. */
const longestMs = 0x7fffffff
/** Where none at all is a choice; a maximum of nothing is else a mistake. */
const mayBeNone = new Set(['maxQueued', 'maxPendingCalls'])

function checkNumbers(options: object, prefix = ''): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || !isLimit.test(name)) continue
    const least = name.startsWith('max') && !mayBeNone.has(name) ? 1 : 0
    const most = name.endsWith('Ms') ? longestMs : Number.POSITIVE_INFINITY
    if (typeof value === 'number' && value >= least && value <= most) continue
    const range = `from ${least} to ${most}`
    throw new TypeError(`the option "${prefix}${name}" is a number ${range}, not ${shown(value)}`)
  }
}
