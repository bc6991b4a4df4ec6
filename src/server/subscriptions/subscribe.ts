import type { RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { limits } from '../../util/limits/limits.ts'
import type { ServerSession } from '../core/session.ts'
import type { HandlerResult, IncomingRequest, NamedParams } from '../request.ts'
import type { Subscriptions } from './subscriptions.ts'

/**
 * Subscribes the session of a request to a resource. Throws `errors.subscriptionFailed` where the
 * session has reached its limit.
 */
export function subscribe(
  { session, caller }: IncomingRequest,
  uri: string,
  subscriptions: Subscriptions,
): HandlerResult {
  if (session === undefined) return {}
  const confirm = (): HandlerResult => subscriptions.whenWatched?.([uri]).then(() => ({})) ?? {}
  if (session.subscriptions.has(uri)) return confirm()
  const isFull = session.subscriptions.size >= limits.subscribedUris.default
  if (isFull || !subscriptions.hasRoomFor([uri])) {
    throw tooManySubscriptions()
  }
  // A session that is closing would never unsubscribe.
  if (!subscriptions.has(session)) return {}
  session.subscribe(uri)
  subscriptions.watch(uri, { caller, session })
  return confirm()
}

/** Returns the error for a subscription beyond a limit. */
export function tooManySubscriptions(): RpcError {
  return errors.subscriptionFailed({ details: 'too many subscriptions' })
}

/** Subscribes a session again to the resources that its client had subscribed to in another process. */
export function resubscribe(
  session: ServerSession,
  caller: Caller,
  uris: readonly string[],
  subscriptions: Subscriptions,
): void {
  for (const uri of uris) if (session.subscribe(uri)) subscriptions.watch(uri, { caller, session })
  if (uris.length > 0) void subscriptions.whenWatched?.(uris)
}

/** Unsubscribes the session of a request from a resource; does nothing where it had not subscribed. */
export function unsubscribe(
  { session, caller }: IncomingRequest,
  uri: string,
  subscriptions: Subscriptions,
): NamedParams {
  if (session?.unsubscribe(uri)) subscriptions.unwatch(uri, { caller, session })
  return {}
}
