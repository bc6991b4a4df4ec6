import { errors } from '../../mcp/errors/constructors.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Params, ServerRequest } from '../request.ts'
import type { Subscriptions } from './subscriptions.ts'

/** Lets a session hear of a resource from now on. Throws where it hears of too many already. */
export function subscribe(
  { session }: ServerRequest,
  uri: string,
  subscriptions: Subscriptions,
): Params {
  if (session === undefined || session.uris.has(uri)) return {}
  if (session.uris.size >= limits.subscribedUris.default) {
    throw errors.subscriptionFailed({ details: 'too many subscriptions' })
  }
  // One that is closing would never unsubscribe.
  if (!subscriptions.has(session)) return {}
  session.subscribe(uri)
  subscriptions.want(uri)
  return {}
}

/** The opposite; does nothing where it had not subscribed. */
export function unsubscribe(
  { session }: ServerRequest,
  uri: string,
  subscriptions: Subscriptions,
): Params {
  if (session?.unsubscribe(uri)) subscriptions.unwant(uri)
  return {}
}
