import type { DialOptions } from './connect-options.ts'
import type { Channel } from './jsonrpc/channel.ts'
import { type CallerCredentials, isCallerCredentials } from './mcp/callers/caller-credentials.ts'
import {
  type Credentials,
  isCredentials,
  type UpstreamAuth,
  type UpstreamCallerAuth,
} from './mcp/credentials.ts'
import type { ChildCommand } from './transport/process/child.ts'
import { type Address, type TransportDialOptions, transportOf } from './transports.ts'
import { isRecord } from './util/objects.ts'
import { formatValue } from './util/options.ts'

export type { DialOptions }

/** The far end of a channel: an address, or a program that is started for the channel. */
export type DialTarget = Address | { readonly kind: 'child'; readonly command: ChildCommand }

/**
 * Opens a channel. Rejects with a ChannelError `'refused'` or `'timeout'` that names the target. Each
 * transport is loaded when it is first dialed.
 */
export async function dial(target: DialTarget, options: TransportDialOptions): Promise<Channel> {
  const channel =
    target.kind === 'child'
      ? await startChild(target.command, options)
      : await transportOf(target).dial(target, options)
  return options.onChannel?.(channel) ?? channel
}

async function startChild(command: ChildCommand, options: TransportDialOptions): Promise<Channel> {
  const { childChannel } = await import('./transport/process/child.ts')
  const channel = await childChannel(command, options)
  try {
    options.onChild?.(channel)
  } catch (error) {
    await channel.close()
    throw error
  }
  return channel
}

/** Makes the credentials of the callers of a router for one server, which are loaded now. */
export async function upstreamCallerCredentials(
  auth: CallerCredentials | UpstreamCallerAuth,
): Promise<CallerCredentials> {
  if (isCallerCredentials(auth)) return auth
  if ('idJag' in auth) {
    const { idJag } = await import('./auth/client/caller/id-jag.ts')
    return idJag(auth.idJag)
  }
  if ('user' in auth)
    throw new TypeError(
      'auth "user" needs pages, which "trunkline up" serves; in a program use userGrants() of trunkline/auth',
    )
  const { exchange } = await import('./auth/client/caller/exchange.ts')
  const { actor, ...options } = auth.exchange
  return exchange({ ...options, ...(actor !== undefined && { actorToken: () => actor }) })
}

/**
 * Makes the credentials of one server at one address, which are loaded now. Rejects with a TypeError for anything that
 * describes none.
 */
export async function upstreamCredentials(auth: Credentials | UpstreamAuth): Promise<Credentials> {
  if (auth === 'stored') {
    const { storedCredentials } = await import('./auth/client/stored.ts')
    return storedCredentials()
  }
  if (isRecord(auth) && 'bearer' in auth) {
    const { bearer } = await import('./auth/client/machine/bearer.ts')
    return bearer(auth.bearer)
  }
  if (isRecord(auth) && 'clientCredentials' in auth) {
    const { clientCredentials } = await import('./auth/client/machine/client-credentials.ts')
    return clientCredentials(auth.clientCredentials)
  }
  if (isCredentials(auth)) return auth
  throw new TypeError(
    `option "auth" must be credentials of trunkline/auth, "stored", { bearer } or { clientCredentials } (got ${formatValue(auth)})`,
  )
}
