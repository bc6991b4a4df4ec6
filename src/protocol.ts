import type { Client } from './client/client.ts'
import type { DecodeOptions } from './jsonrpc/decode.ts'
import type { Handler, Method } from './jsonrpc/handler.ts'
import type { Peer } from './jsonrpc/peer.ts'
import type { PeerOptions } from './jsonrpc/peer-options.ts'
import type { Endpoint } from './mcp/endpoint.ts'
import { type Profile, type ProfileName, profile, profiles } from './mcp/profile.ts'
import { decodeOptions, peerOptions } from './mcp/profile-options.ts'
import { longestDelayMs } from './util/clock.ts'
import { defined } from './util/defined.ts'
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

/** Throws a TypeError for options that mean nothing, before anything is opened. */
export function checkOptions(options: WireOptions): void {
  if (!isRecord(options as unknown))
    throw new TypeError(`options are an object, not ${shown(options)}`)
  const { protocol = 'mcp' } = options as { readonly protocol?: unknown }
  // Callers the compiler never saw may write anything.
  if (protocol !== 'mcp' && protocol !== 'jsonrpc') {
    throw new TypeError(`the option "protocol" is 'mcp' or 'jsonrpc', not ${shown(protocol)}`)
  }
  if (options.framing !== undefined) framing(options.framing)
  checkNumbers(options)
  checkGroups(options, groups)
}

/** Whether something can be served as MCP: a server, or whatever else answers like one. */
export function isEndpoint(value: unknown): value is Endpoint {
  return (
    isRecord(value) &&
    typeof Reflect.get(value, 'attach') === 'function' &&
    typeof Reflect.get(value, 'handle') === 'function'
  )
}

/** Any value in an error message, in few characters. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100))
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'an array'
  return isRecord(value) ? 'an object' : String(value)
}

/**
 * The options that are objects of options, by name. Only these are looked into: other objects, such as
 * headers, have members with names of the caller's choice.
 */
interface Groups {
  readonly [name: string]: Groups
}

const groups: Groups = {
  decode: {},
  peer: {},
  restart: {},
  heartbeat: {},
  http: { sessions: { events: {} }, cors: {}, sse: {}, retry: {} },
}
/** What `false` leaves out. */
const mayBeOff = new Set(['restart', 'cors', 'sse'])

function checkGroups(options: object, inside: Groups, prefix = ''): void {
  for (const [name, further] of Object.entries(inside)) {
    const members: unknown = Reflect.get(options, name)
    if (members === undefined || (members === false && mayBeOff.has(name))) continue
    const path = `${prefix}${name}`
    if (!isRecord(members)) {
      const else_ = mayBeOff.has(name) ? ' or false' : ''
      throw new TypeError(
        `the option "${path}" is an object of options${else_}, not ${shown(members)}`,
      )
    }
    checkNumbers(members, `${path}.`)
    checkGroups(members, further, `${path}.`)
  }
}

const isLimit = /^max(?!Id$)|(?:Ms|Bytes|Lines)$|^attempts$/
/** Where none at all is a choice; a maximum of nothing is else a mistake. */
const mayBeNone = new Set(['maxQueued', 'maxPendingCalls', 'maxAgeSeconds'])

function checkNumbers(options: object, prefix = ''): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || !isLimit.test(name)) continue
    const least = name.startsWith('max') && !mayBeNone.has(name) ? 1 : 0
    const most = name.endsWith('Ms') ? longestDelayMs : Number.POSITIVE_INFINITY
    if (typeof value === 'number' && value >= least && value <= most) continue
    const range = `from ${least} to ${most}`
    throw new TypeError(`the option "${prefix}${name}" is a number ${range}, not ${shown(value)}`)
  }
}
