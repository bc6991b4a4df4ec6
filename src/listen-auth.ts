import type { AuthOptions } from './auth/server/auth-options.ts'
import type { Channel } from './jsonrpc/channel.ts'
import type { Authenticator, AuthHeaders } from './mcp/authenticator.ts'
import { isRecord } from './util/objects.ts'

/** The decision about the handshake of a WebSocket: guards its channel, or refuses it. */
export type HandshakeDecision =
  | { readonly status?: undefined; guard(channel: Channel): Channel }
  | { readonly status: number; readonly headers: AuthHeaders }

/** Returns the authenticator of the option `auth`. Throws a TypeError for invalid options. */
export async function authenticatorOf(
  auth: AuthOptions | Authenticator | undefined,
): Promise<Authenticator | undefined> {
  if (auth === undefined || isAuthenticator(auth)) return auth
  const { authenticator } = await import('./auth/server/authenticator.ts')
  return authenticator(auth)
}

function isAuthenticator(auth: unknown): auth is Authenticator {
  return isRecord(auth) && typeof auth.authenticate === 'function'
}

/**
 * Returns a function that guards the channels of a transport without HTTP. Over TCP a client sends its token
 * in its first message. Standard input and output and socket files have one caller, which the option names.
 */
export async function channelGuard(
  { kind }: { readonly kind: string },
  auth: AuthOptions | Authenticator,
  authenticator: Authenticator,
): Promise<(channel: Channel) => Channel> {
  const { authenticatedChannel, guardedChannel } = await import('./auth/server/guarded-channel.ts')
  const principal = isAuthenticator(auth) ? undefined : auth.principal
  if (principal !== undefined) return channel => guardedChannel(channel, principal, authenticator)
  if (kind === 'stdio') {
    throw new TypeError('auth: over "stdio:" the caller is fixed; name it: { principal: { id } }')
  }
  return channel => authenticatedChannel(channel, authenticator)
}

/** Returns a function that authenticates the handshakes of WebSockets. */
export async function handshakeGuard(
  authenticator: Authenticator,
  isProxy: ((address: string) => boolean) | undefined,
) {
  const { guardedChannel } = await import('./auth/server/guarded-channel.ts')
  const { upgradeRequest } = await import('./http/node/auth/upgrade-request.ts')
  return async (request: Parameters<typeof upgradeRequest>[0]): Promise<HandshakeDecision> => {
    const outcome = await authenticator.authenticate(upgradeRequest(request, isProxy))
    if (outcome.status !== undefined) return outcome
    return { guard: channel => guardedChannel(channel, outcome.principal, authenticator) }
  }
}
