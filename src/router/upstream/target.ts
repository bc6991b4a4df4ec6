import { parseAddress } from '../../address.ts'
import {
  type DialOptions,
  type DialTarget,
  dial,
  upstreamCallerCredentials,
  upstreamCredentials,
} from '../../dial.ts'
import type { Channel, Principal } from '../../jsonrpc/channel.ts'
import { parseRaw } from '../../jsonrpc/codec/raw-json.ts'
import { isList, type Message } from '../../jsonrpc/message.ts'
import type { AuthorizationEvent } from '../../mcp/callers/authorization-event.ts'
import {
  type CallerCredentials,
  isCallerCredentials,
} from '../../mcp/callers/caller-credentials.ts'
import type { Credentials, UpstreamCallerAuth } from '../../mcp/credentials.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import { memoryPair } from '../../transport/memory.ts'
import type { ChildProcess } from '../../transport/process/child.ts'
import { isRecord } from '../../util/objects.ts'
import { addressText } from '../../util/text/address-text.ts'
import { hideValues } from '../../util/text/hidden-values.ts'
import type { Traffic } from '../../util/traffic.ts'
import { rawResults } from '../forward/results.ts'
import type { InstanceUrl, UpstreamOptions } from '../options.ts'
import { unlistedServer } from './unlisted-server.ts'

/** The address or program of one instance of a server. */
export interface InstanceTarget {
  /** Identifies it among the instances of the server, as long as the options stay the same. */
  readonly key: string
  /**
   * Identifies it in every process, whichever other instances there are: calls are distributed by it where
   * that is by a hash. May hold secrets.
   */
  readonly hashId: string
  /** The program or address, to be shown. Holds no secrets. */
  readonly label: string
  readonly weight: number
  /** Whether it is a server of this process, which gets the principal and the headers of each caller. */
  readonly isLocal?: boolean
  /** Present if each caller has credentials of its own: no two of them may share a connection. */
  readonly callers?: TargetCallers
  /** Opens a connection; starts the process, if it is a program. */
  dial(options: TargetOptions): Promise<Channel>
}

/** The credentials of callers at one address. */
export interface TargetCallers {
  /** Whether the router itself has no credentials: it reads no lists and checks no health. */
  readonly isUnlisted: boolean
  /** Must be called with the principal of each call: the newest token of a caller is used. */
  present(principal: Principal): void
}

/** How long connecting may take, and what is reported of the connection. */
export interface TargetOptions {
  /** The caller on whose behalf the connection is used; undefined for a connection of the router itself. */
  readonly principal?: Principal | undefined
  readonly handshakeMs: number
  readonly onChild: (child: ChildProcess) => void
  /** Called when calls begin to go over a WebSocket instead of HTTP, and when they no longer do. */
  readonly onWebSocket: (isOpen: boolean) => void
  /** Counts bytes and messages. */
  readonly traffic: Traffic
}

/** Receives what happens while the router is authorized to act for callers. */
type OnAuthorization = (event: AuthorizationEvent) => void

/** Returns the instances that the options of a server name. Throws a TypeError for none, or for two kinds. */
export function targetsOf(
  name: string,
  options: UpstreamOptions,
  onAuthorization: OnAuthorization,
): readonly InstanceTarget[] {
  const { command, url, urls, server, configError } = options
  if (configError !== undefined) return [invalidTarget(configError)]
  const named = [command, url, urls, server].filter(one => one !== undefined)
  if (named.length !== 1) {
    const what = 'exactly one of "command", "url", "urls" and "server"'
    throw new TypeError(`server "${name}" needs ${what} (got ${named.length})`)
  }
  if (server !== undefined) return [localTarget(server)]
  if (command !== undefined) return childTargets(name, command, options)
  const addresses = urls ?? [url as string]
  if (addresses.length === 0) throw new TypeError(`server "${name}": "urls" must not be empty`)
  const targets = addresses.map((address, index) =>
    urlTarget(address, index, options, onAuthorization),
  )
  // An address that is listed twice is two instances.
  return targets.map((target, index) => {
    const same = targets.slice(0, index).filter(({ hashId }) => hashId === target.hashId).length
    return same === 0 ? target : { ...target, hashId: `${target.hashId} ${same}` }
  })
}

/** Stands for a server whose configuration is invalid. It is never dialed. */
function invalidTarget(reason: string): InstanceTarget {
  const dial = (): Promise<Channel> => Promise.reject(new TypeError(reason))
  return { key: '0', hashId: '0', label: 'invalid configuration', weight: 1, dial }
}

function localTarget(server: Endpoint): InstanceTarget {
  return {
    key: '0',
    hashId: '0',
    label: 'in this process',
    weight: 1,
    isLocal: true,
    dial: async () => {
      const [near, far] = memoryPair()
      server.attach(far)
      return parsing(near)
    },
  }
}

/** A channel that is not serialized: params that are raw JSON are parsed before they are sent. */
function parsing(channel: Channel): Channel {
  return {
    open: sink => channel.open(sink),
    send: (message, envelope) =>
      channel.send(isList(message) ? message.map(parseParams) : parseParams(message), envelope),
    close: () => channel.close(),
    [Symbol.asyncDispose]: () => channel.close(),
  }
}

function parseParams(message: Message): Message {
  if (message.type !== 'request' || !isRecord(message.params)) return message
  const params = parseRaw(message.params)
  return params === message.params ? message : { ...message, params }
}

function childTargets(
  name: string,
  command: string,
  options: UpstreamOptions,
): readonly InstanceTarget[] {
  const { args, cwd, env, inheritEnv, instances = 1 } = options
  if (!Number.isInteger(instances) || instances < 1) {
    throw new TypeError(`server "${name}": "instances" must be an integer ≥ 1 (got ${instances})`)
  }
  const where: DialTarget = { kind: 'child', command: { command, args, cwd, env, inheritEnv } }
  return Array.from({ length: instances }, (_, index) => ({
    key: String(index),
    hashId: String(index),
    label: hideValues(command),
    weight: 1,
    dial: target =>
      dial(where, { ...opening(target), onStderr: () => {}, traffic: target.traffic }),
  }))
}

function urlTarget(
  address: InstanceUrl,
  index: number,
  options: UpstreamOptions,
  onAuthorization: OnAuthorization,
): InstanceTarget {
  const { auth } = options
  if (isForCallers(auth)) return callersTarget(address, index, options, auth, onAuthorization)
  const { headers, websocket = true } = options
  const { url, weight = 1 } = typeof address === 'string' ? { url: address } : address
  const where = parseAddress(url)
  let credentials: Promise<Credentials> | undefined
  return {
    key: String(index),
    hashId: url,
    label: addressText(url),
    weight,
    dial: async target => {
      const { onWebSocket, traffic } = target
      const how = { ...opening(target), headers, websocket, onWebSocket, traffic }
      if (auth === undefined) return dial(where, how)
      // One object for all connections to the address: they share its token.
      credentials ??= upstreamCredentials(auth)
      return dial(where, { ...how, auth: await credentials })
    },
  }
}

/** An address whose callers each have credentials of their own. */
function callersTarget(
  address: InstanceUrl,
  index: number,
  options: UpstreamOptions,
  auth: CallerCredentials | UpstreamCallerAuth,
  onAuthorization: OnAuthorization,
): InstanceTarget {
  const { lister } = options
  const own = urlTarget(address, index, { ...options, auth: lister }, onAuthorization)
  const { url } = typeof address === 'string' ? { url: address } : address
  const where = parseAddress(url)
  if (where.kind !== 'http')
    throw new TypeError(`credentials of callers need an HTTP address (got "${addressText(url)}")`)
  const server = new URL(url)
  let loading: Promise<CallerCredentials> | undefined
  let credentials: CallerCredentials | undefined
  const load = async (): Promise<CallerCredentials> => {
    loading ??= upstreamCallerCredentials(auth)
    credentials = await loading
    return credentials
  }
  return {
    ...own,
    callers: {
      isUnlisted: lister === undefined,
      present: principal => void credentials?.for(principal, server, onAuthorization),
    },
    dial: async target => {
      const { principal, traffic, onWebSocket } = target
      if (principal === undefined) return lister === undefined ? unlistedServer() : own.dial(target)
      const all = await load()
      const { headers } = options
      // A WebSocket would use the token of its handshake for as long as it is open.
      const how = { ...opening(target), headers, websocket: false, onWebSocket, traffic }
      return dial(where, { ...how, auth: all.for(principal, server, onAuthorization) })
    },
  }
}

/** Whether credentials are for each caller, and not for the router. */
export function isForCallers(
  auth: UpstreamOptions['auth'],
): auth is CallerCredentials | UpstreamCallerAuth {
  if (isCallerCredentials(auth)) return true
  return isRecord(auth) && ('exchange' in auth || 'idJag' in auth || 'user' in auth)
}

// Less than the default: the server starts with the first of many calls while the rest is still written.
const coalesceBytes = 4096

function opening({ handshakeMs, onChild }: TargetOptions): DialOptions {
  const decode = { rawResults }
  const onJunk = (): void => {}
  return {
    handshakeMs,
    onChild,
    subprotocol: 'mcp',
    flushOnImmediate: true,
    coalesceBytes,
    decode,
    onJunk,
  }
}
