import type { PathHandler } from '../../http/beside.ts'
import { ChannelError } from '../../jsonrpc/channel.ts'
import { listen } from '../../listen.ts'
import type { ConnectPages } from '../../mcp/callers/connect-pages.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import type { Ops } from '../../observe/health/health.ts'
import { withSessionEvents } from '../../observe/observed.ts'
import type { AuthConfig } from '../../router/config/auth/fields.ts'
import type { Router } from '../../router/router.ts'
import type { Listener } from '../../transport/listener.ts'
import type { TlsOptions } from '../../transport/tls/certificate.ts'
import type { CliCluster } from '../cluster/cluster-of.ts'
import type { GuardOptions } from './caller-auth.ts'
import { isServable } from './console/plan.ts'

/** Options of `listenAll`. */
export interface ListenAllOptions {
  readonly ops: Ops | undefined
  /** Whether any free port may replace a port in use. */
  readonly isAnyPort: boolean
  readonly lameDuckMs?: number
  readonly tls?: TlsOptions
  /** How callers are authenticated. The caller on `stdio:` is the program that started this one. */
  readonly auth?: AuthConfig
  /** The cluster that HTTP listeners take part in. */
  readonly cluster?: CliCluster | undefined
  /** The pages on which users grant access, at every HTTP address. */
  readonly pages?: ConnectPages | undefined
  /** The console, at every address that may serve it. */
  readonly console?: PathHandler | undefined
  readonly onError: (error: unknown) => void
}

/**
 * Listens on all addresses, and returns the listeners by address. Reuses the listeners in `before`. If one
 * address fails, it closes the new listeners and rejects as `listen` does.
 */
export async function listenAll(
  endpoint: Endpoint,
  addresses: readonly string[],
  options: ListenAllOptions,
  before: ReadonlyMap<string, Listener> = new Map(),
): Promise<ReadonlyMap<string, Listener>> {
  const listeners = new Map<string, Listener>()
  try {
    for (const address of addresses) {
      const listener = before.get(address) ?? (await listenOn(endpoint, address, options))
      listeners.set(address, listener)
    }
    return listeners
  } catch (error) {
    await closeAll(listeners, before)
    throw error
  }
}

/** The listeners of views by address, by view. */
export type ViewListeners = ReadonlyMap<string, ReadonlyMap<string, Listener>>

/** Listens on the addresses of all views. If one fails, it closes the others and rejects as `listen` does. */
export async function listenViews(
  router: Pick<Router, 'view'>,
  addresses: Readonly<Record<string, readonly string[]>>,
  options: ListenAllOptions,
): Promise<ViewListeners> {
  const views = new Map<string, ReadonlyMap<string, Listener>>()
  try {
    for (const [view, those] of Object.entries(addresses)) {
      views.set(view, await listenAll(withSessionEvents(router.view(view)), those, options))
    }
    return views
  } catch (error) {
    await Promise.all(Array.from(views.values(), each => closeAll(each)))
    throw error
  }
}

/**
 * Rejects, as `listen` does, if one of the addresses is not available. Listens on each for a moment, without
 * serving anything: a client that connects meanwhile is disconnected.
 */
export async function checkFree(addresses: readonly string[], tls?: TlsOptions): Promise<void> {
  for (const address of addresses) {
    if (address === 'stdio:') continue
    const listener = await listen({}, address, { protocol: 'jsonrpc', tls })
    await listener.close()
  }
}

/** Closes the listeners that are not also in `kept`. */
export async function closeAll(
  listeners: ReadonlyMap<string, Listener>,
  kept: ReadonlyMap<string, Listener> = new Map(),
): Promise<void> {
  const closing = Array.from(listeners).filter(([address, one]) => kept.get(address) !== one)
  await Promise.all(closing.map(([, listener]) => listener.close()))
}

async function listenOn(
  endpoint: Endpoint,
  address: string,
  {
    ops,
    isAnyPort,
    lameDuckMs,
    tls,
    auth: config,
    pages,
    cluster,
    console: part,
    onError,
  }: ListenAllOptions,
): Promise<Listener> {
  const isGuarded = config !== undefined && address !== 'stdio:'
  const guard = isGuarded ? await guardOf(config, address, onError) : undefined
  const beside = part !== undefined && isServable(address) ? part : undefined
  const joined = cluster?.join()
  const common = { onError, ops, lameDuckMs, tls, beside }
  const how = { ...common, ...(pages && { pages }), ...joined, ...guard }
  try {
    return await listen(endpoint, address, how)
  } catch (error) {
    const isInUse = error instanceof ChannelError && /EADDRINUSE|in use/.test(error.message)
    if (!isAnyPort || !isInUse) throw error
    const url = new URL(address)
    url.port = '0'
    return listen(endpoint, url.href, how)
  }
}

async function guardOf(
  config: AuthConfig,
  address: string,
  onError: (error: unknown) => void,
): Promise<GuardOptions> {
  const { guardOptions } = await import('./caller-auth.ts')
  return guardOptions(config, address, onError)
}
