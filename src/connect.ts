import { parseAddress } from './address.ts'
import { handlerOf } from './answers.ts'
import type { Client } from './client/client.ts'
import { type ConnectOptions, connectTables, type RpcConnectOptions } from './connect-options.ts'
import { dial, type Where } from './dial.ts'
import type { Channel } from './jsonrpc/channel.ts'
import { Peer } from './jsonrpc/peer/peer.ts'
import type { Endpoint } from './mcp/endpoint.ts'
import { profile } from './mcp/profile.ts'
import { decodeOptions } from './mcp/profile-options.ts'
import { checkProtocolOptions, isEndpoint, settings } from './protocol.ts'
import type { RouterOptions } from './router/options.ts'
import type { ChildCommand } from './transport/process/child.ts'
import { defined } from './util/defined.ts'
import { shown } from './util/options.ts'
import { isRecord } from './util/record.ts'

export type { ConnectOptions, RpcConnectOptions }

/** Servers as hosts write them in their files: with a router in front, they are one. */
export interface ServerGroup {
  readonly mcpServers: NonNullable<RouterOptions['servers']>
}

/**
 * Connects to an address that `listen` takes, or starts a program and talks to it over its standard
 * input and output; `stdio:` talks to whoever started this process. A server of this process is
 * connected to directly. Several servers, as `{ mcpServers }`, are put behind a router, which ends with
 * the client; the names of their tools and prompts begin with `name__`.
 *
 * Gives a client, or, with `protocol: 'jsonrpc'`, a peer. It belongs to the caller, who closes it; a
 * program that was started ends with it. Rejects with a ChannelError `'refused'` or `'timeout'` that
 * names the target, with the signal's reason, or with a TypeError for an address or options it cannot
 * read.
 */
export function connect(
  target: string | ChildCommand | ServerGroup | Endpoint,
  options?: ConnectOptions,
): Promise<Client>
export function connect(target: string | ChildCommand, options: RpcConnectOptions): Promise<Peer>
export async function connect(
  target: string | ChildCommand | ServerGroup | Endpoint,
  options: ConnectOptions | RpcConnectOptions = {},
): Promise<Client | Peer> {
  checkProtocolOptions(options, connectTables)
  checkSubprotocol(options.subprotocol)
  if (isGroup(target)) {
    if (options.protocol !== 'jsonrpc') return connectGroup(target, options)
    throw new TypeError('several servers can be connected to as MCP only')
  }
  if (options.protocol === 'jsonrpc') return connectPeer(whereOf(target), options)
  return connectClient(isEndpoint(target) ? target : whereOf(target), options)
}

function isGroup(target: unknown): target is ServerGroup {
  return isRecord(target) && isRecord(target.mcpServers)
}

async function connectGroup({ mcpServers }: ServerGroup, options: ConnectOptions): Promise<Client> {
  const { Router } = await import('./router/router.ts')
  const { onError } = options
  const router = new Router({ servers: mcpServers, ...(onError && { onError }) })
  try {
    await router.ready()
    const client = await connectClient(router, options)
    void client.closed.then(() => router.close())
    return client
  } catch (error) {
    await router.close()
    throw error
  }
}

async function connectPeer(where: Where, options: RpcConnectOptions): Promise<Peer> {
  const { methods = {}, timeoutMs, signal } = options
  const { decode, peer } = settings(options)
  // Before the connection, which nobody would close if this threw.
  const handler = handlerOf(methods)
  signal?.throwIfAborted()
  const channel = await dial(where, { ...options, decode })
  return new Peer(channel, handler, { timeoutMs, ...peer })
}

async function connectClient(where: Where | Endpoint, options: ConnectOptions): Promise<Client> {
  const { openClient } = await import('./client/client.ts')
  if (isEndpoint(where)) {
    const { memoryPair } = await import('./transport/memory.ts')
    return openClient(async () => {
      const [near, far] = memoryPair()
      where.attach(far)
      return near
    }, options)
  }
  const { signal, ...lasting } = options
  const decode = { ...decodeOptions(profile(options.profile)), ...defined(options.decode) }
  const opening = { subprotocol: 'mcp', ...lasting, decode }
  let isOpen = false
  // Whoever gives up opening means the first time: later ones are the client's own business.
  const redial = (): Promise<Channel> => dial(where, isOpen ? opening : { ...opening, signal })
  const { knownServers } = await import('./client/connection/version-cache.ts')
  const remember = { target: nameOf(where), verdicts: knownServers }
  const client = await openClient(redial, { remember, ...options })
  isOpen = true
  return client
}

/** Under which name it is remembered what a target speaks. */
function nameOf(where: Where): string {
  if (where.kind !== 'child') return JSON.stringify(where)
  const { command, args, cwd } = where.command
  return JSON.stringify([command, args, cwd])
}

function whereOf(target: string | ChildCommand | Endpoint): Where {
  if (typeof target === 'string') return parseAddress(target)
  // Callers the compiler never saw pass anything.
  if (!isRecord(target) || isEndpoint(target)) {
    throw new TypeError(`connecting needs an address or { command }, not ${shown(target)}`)
  }
  const { command, args = [] } = target
  if (typeof command !== 'string' || command === '') {
    throw new TypeError(`the "command" to start is the name of a program, not ${shown(command)}`)
  }
  if (!Array.isArray(args) || args.some(arg => typeof arg !== 'string')) {
    throw new TypeError(`the "args" of "${command}" are an array of strings`)
  }
  return { kind: 'child', command: target }
}

function checkSubprotocol(name: string | undefined): void {
  // A token of HTTP, which is all that the header can carry.
  if (name === undefined || /^[\w!#$%&'*+.^`|~-]+$/.test(name)) return
  throw new TypeError(`the option "subprotocol" is a name without spaces, not ${shown(name)}`)
}
