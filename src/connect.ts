import { parseAddress } from './address.ts'
import { handlerOf } from './answers.ts'
import type { Client } from './client/client.ts'
import type { AnyPrompts, AnyTools } from './client/requests/call-types.ts'
import {
  type ConnectOptions,
  type ConnectOptionsBy,
  connectionOptions,
  connectTables,
  type RpcConnectOptions,
} from './connect-options.ts'
import { type DialTarget, dial } from './dial.ts'
import type { Channel } from './jsonrpc/channel.ts'
import { Peer } from './jsonrpc/peer/peer.ts'
import { type Credentials, isCredentials } from './mcp/credentials.ts'
import type { Endpoint } from './mcp/endpoint.ts'
import { decodeOptions, profile } from './mcp/profile.ts'
import {
  checkProtocolOptions,
  isEndpoint,
  type Protocol,
  type Protocols,
  settings,
} from './protocol.ts'
import type { RouterOptions } from './router/options.ts'
import type { Router } from './router/router.ts'
import type { ChildCommand } from './transport/process/child.ts'
import { transportOf } from './transports.ts'
import { defined, isRecord } from './util/objects.ts'
import { formatValue } from './util/options.ts'

export type { ConnectOptions, ConnectOptionsBy, RpcConnectOptions }

/** A client of several servers, with the router in front of them. */
export interface GroupClient<Tools = AnyTools, Prompts = AnyPrompts>
  extends Client<Tools, Prompts> {
  /** Shows the state of each server and the server of each tool, and adds, removes and retries servers. */
  readonly router: Router
}

/** Several servers by name, as in the configuration files of MCP hosts. `connect` puts a router in front. */
export interface ServerGroup {
  /** The servers by name: commands, addresses, or servers of this process. */
  readonly mcpServers: NonNullable<RouterOptions['servers']>
}

/** A server at an address, as an entry of `mcpServers` describes it. */
export interface UrlTarget {
  /** The address of the server, such as `https://example.com/mcp`. */
  readonly url: string | URL
  /** The kind of server in the files of MCP hosts, such as `http`; the address decides. */
  readonly type?: string
  /** Sent with every HTTP request, besides those of the options. */
  readonly headers?: Readonly<Record<string, string>>
}

/** What `connect` connects to, by protocol. */
export interface ConnectTargets {
  /** An address, a program to start, several servers, or a server of this process. */
  readonly mcp: string | URL | ChildCommand | UrlTarget | ServerGroup | Endpoint
  /** An address, or a program to start. */
  readonly jsonrpc: string | URL | ChildCommand | UrlTarget
}

/**
 * Connects to an address that `listen` accepts, or starts a program and connects to its standard input
 * and output; `stdio:` connects to the parent process. A server of this process is connected to
 * directly. Several servers, as `{ mcpServers }`, are put behind a router, which is the member `router` of the
 * client and closes with it; the names of their tools and prompts start with `name__`. A single entry of `mcpServers` is a target too.
 *
 * Resolves to a client, or, with `protocol: 'jsonrpc'`, to a peer. The caller closes it, which also ends
 * a program that was started. Rejects with a ChannelError `'refused'` or `'timeout'` that names the
 * target, with the reason of the signal, or with a TypeError for an invalid address or invalid options.
 *
 * `connect<Tools>(…)` types the calls of the client: `Tools` has a member for each tool, under its name, with
 * the types of its `input` and `output`.
 */
// One signature for both protocols, because the compiler cannot say which of several was meant.
export function connect<
  Tools = AnyTools,
  Prompts = AnyPrompts,
  P extends Protocol = 'mcp',
  T extends ConnectTargets[P] = ConnectTargets[P],
>(
  target: T,
  options?: { readonly protocol?: P } & ConnectOptionsBy[P],
): Promise<
  [T] extends [ServerGroup] ? GroupClient<Tools, Prompts> : Protocols<Tools, Prompts>[P]['connects']
>
export async function connect(
  given: ConnectTargets[Protocol],
  chosen: ConnectOptions | RpcConnectOptions = {},
): Promise<Client | Peer> {
  checkProtocolOptions(chosen, connectTables)
  const { target, options } = isUrlTarget(given)
    ? atUrl(given, chosen)
    : { target: given, options: chosen }
  checkSubprotocol(options.subprotocol)
  if (isGroup(target)) {
    if (options.auth !== undefined) throw authMisplaced('{ mcpServers }')
    if (options.protocol !== 'jsonrpc') {
      refuseOptions(options, '{ mcpServers }; set it for one server, or use client.router')
      return connectGroup(target, options)
    }
    throw new TypeError("{ mcpServers } requires the protocol 'mcp'")
  }
  if (options.protocol === 'jsonrpc') return connectPeer(whereOf(target), options)
  if (isEndpoint(target)) refuseOptions(options, 'a server of this process')
  return connectClient(isEndpoint(target) ? target : whereOf(target), options)
}

/** Throws a TypeError for an option of the connection, where there is no connection of its kind. */
function refuseOptions(options: ConnectOptions, target: string): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || !connectionOptions.has(name)) continue
    throw new TypeError(`option "${name}" has no effect for ${target}`)
  }
}

/** Whether a target is an entry of `mcpServers` with an address. A URL object has no member `url`. */
function isUrlTarget(target: unknown): target is UrlTarget {
  return isRecord(target) && !isEndpoint(target) && 'url' in target && !('command' in target)
}

/** Splits an entry of `mcpServers` into its address and its headers. Headers of the options win. */
function atUrl<O extends ConnectOptions | RpcConnectOptions>(
  { url, headers }: UrlTarget,
  options: O,
): { readonly target: string | URL; readonly options: O } {
  if (typeof url !== 'string' && !(url instanceof URL))
    throw new TypeError(`"url" must be an address (got ${formatValue(url)})`)
  if (headers === undefined) return { target: url, options }
  return { target: url, options: { ...options, headers: { ...headers, ...options.headers } } }
}

function isGroup(target: unknown): target is ServerGroup {
  return isRecord(target) && isRecord(target.mcpServers)
}

async function connectGroup(
  { mcpServers }: ServerGroup,
  options: ConnectOptions,
): Promise<GroupClient> {
  const { Router } = await import('./router/router.ts')
  const { onError } = options
  const router = new Router({ servers: mcpServers, ...(onError && { onError }) })
  try {
    await router.ready()
    const client = await connectClient(router, options)
    void client.closed.then(() => router.close())
    return Object.assign(client, { router })
  } catch (error) {
    await router.close()
    throw error
  }
}

/**
 * Returns the credentials of the options; undefined if there are none. Throws a TypeError for a target
 * that has no way to authenticate callers, and for headers that authorize requests as well.
 */
async function credentialsOf(
  { auth, headers = {}, http }: ConnectOptions | RpcConnectOptions,
  where: DialTarget | Endpoint,
): Promise<Credentials | undefined> {
  if (auth === undefined) return undefined
  if (isEndpoint(where)) throw authMisplaced('a server of this process')
  if (where.kind === 'child') throw authMisplaced('a program')
  if (where.kind === 'stdio') throw authMisplaced(transportOf(where).form)
  const more = typeof http?.headers === 'object' ? http.headers : {}
  const clash = Object.keys({ ...headers, ...more }).find(name => /^authorization$/i.test(name))
  if (clash !== undefined)
    throw new TypeError('option "auth" and the header "authorization" are both given; use one')
  if (auth !== 'stored') return checkedCredentials(auth)
  const { storedCredentials } = await import('./auth/client/stored.ts')
  return storedCredentials()
}

function checkedCredentials(auth: Credentials): Credentials {
  if (isCredentials(auth)) return auth
  throw new TypeError(
    `option "auth" must be credentials of trunkline/auth, such as oauth(), or "stored" (got ${formatValue(auth)})`,
  )
}

function authMisplaced(target: string): TypeError {
  return new TypeError(
    `option "auth" requires the address of a server (http:, https:, ws:, wss:, or a socket), not ${target}`,
  )
}

async function connectPeer(where: DialTarget, options: RpcConnectOptions): Promise<Peer> {
  const { methods = {}, timeoutMs, signal } = options
  const { decode, peer } = settings(options)
  // Before dialing, because nothing would close the channel if this threw.
  const handler = handlerOf(methods)
  signal?.throwIfAborted()
  const auth = await credentialsOf(options, where)
  const channel = await dial(where, { ...options, auth, decode })
  return new Peer(channel, handler, { timeoutMs, ...peer })
}

async function connectClient(
  where: DialTarget | Endpoint,
  options: ConnectOptions,
): Promise<Client> {
  const { openClient } = await import('./client/client.ts')
  const auth = await credentialsOf(options, where)
  if (isEndpoint(where)) {
    const { memoryPair } = await import('./transport/memory.ts')
    const { principal, headers } = options
    return openClient(async () => {
      const [near, far] = memoryPair()
      const transport = { name: 'memory' }
      where.attach(far, { principal, headers: headers && lowerCase(headers), transport })
      return near
    }, options)
  }
  if (options.principal !== undefined) {
    throw new TypeError(
      'option "principal" is for servers of this process; elsewhere the server authenticates the caller',
    )
  }
  const { signal, ...lasting } = options
  const decode = { ...decodeOptions(profile(options.profile)), ...defined(options.decode) }
  const dialing = { subprotocol: 'mcp', ...lasting, auth, decode }
  let isOpen = false
  // The signal aborts only the first connection attempt; the client decides on later ones.
  const redial = (): Promise<Channel> => dial(where, isOpen ? dialing : { ...dialing, signal })
  const { knownServers } = await import('./client/connection/version-cache.ts')
  const versionCache = { key: nameOf(where), store: knownServers }
  const identity = auth && (() => auth.identity)
  const client = await openClient(redial, { versionCache, ...options }, identity)
  isOpen = true
  return client
}

function lowerCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(named)
}

/** Returns the key under which the version cache stores the protocol version of a target. */
function nameOf(where: DialTarget): string {
  if (where.kind !== 'child') return JSON.stringify(where)
  const { command, args, cwd } = where.command
  return JSON.stringify([command, args, cwd])
}

function whereOf(target: string | URL | ChildCommand | Endpoint): DialTarget {
  if (typeof target === 'string') return parseAddress(target)
  if (target instanceof URL) return parseAddress(target.href)
  // Untyped callers pass anything.
  if (!isRecord(target) || isEndpoint(target) || !('command' in target)) {
    const meant =
      isRecord(target) && isRecord(target.servers) ? '; did you mean { mcpServers }?' : ''
    throw new TypeError(
      `connect() expects an address, a Server, { command }, { url } or { mcpServers }, got ${formatValue(target)}${meant}`,
    )
  }
  const { command, args = [] } = target
  if (typeof command !== 'string' || command === '') {
    throw new TypeError(`"command" must be the name of a program (got ${formatValue(command)})`)
  }
  if (!Array.isArray(args) || args.some(arg => typeof arg !== 'string')) {
    throw new TypeError(`"args" of "${command}" must be an array of strings`)
  }
  return { kind: 'child', command: target }
}

function checkSubprotocol(name: string | undefined): void {
  // The header can carry only HTTP tokens.
  if (name === undefined || /^[\w!#$%&'*+.^`|~-]+$/.test(name)) return
  throw new TypeError(
    `option "subprotocol" must be a name without spaces (got ${formatValue(name)})`,
  )
}
