import { ChannelError } from '../../jsonrpc/channel.ts'
import { listen } from '../../listen.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import type { Ops } from '../../observe/health/health.ts'
import type { Listener } from '../../transport/listener.ts'

/** What listening takes. */
export interface ListeningOptions {
  readonly ops: Ops | undefined
  readonly isAnyPort: boolean
  readonly onError: (error: unknown) => void
}

/**
 * Serves an endpoint on several addresses: on all of them, or on none that was not served before.
 * Gives the listeners by their addresses; those that are there already are taken from `before`. Rejects
 * as `listen` does.
 */
export async function listenAll(
  endpoint: Endpoint,
  addresses: readonly string[],
  options: ListeningOptions,
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

/**
 * Rejects, as `listen` does, where one of these addresses cannot be served now. Nothing is served:
 * whoever connects meanwhile is turned away.
 */
export async function checkFree(addresses: readonly string[]): Promise<void> {
  for (const address of addresses) {
    if (address === 'stdio:') continue
    const listener = await listen({}, address, { protocol: 'jsonrpc' })
    await listener.close()
  }
}

/** Closes listeners, but for those that are also among others. */
export async function closeAll(
  listeners: ReadonlyMap<string, Listener>,
  others: ReadonlyMap<string, Listener> = new Map(),
): Promise<void> {
  const gone = Array.from(listeners).filter(([address, one]) => others.get(address) !== one)
  await Promise.all(gone.map(([, listener]) => listener.close()))
}

async function listenOn(
  endpoint: Endpoint,
  address: string,
  { ops, isAnyPort, onError }: ListeningOptions,
): Promise<Listener> {
  const how = { onError, ops }
  try {
    return await listen(endpoint, address, how)
  } catch (error) {
    const isTaken = error instanceof ChannelError && /EADDRINUSE|in use/.test(error.message)
    if (!isAnyPort || !isTaken) throw error
    const url = new URL(address)
    url.port = '0'
    return listen(endpoint, url.href, how)
  }
}
