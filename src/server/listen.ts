import { invalidParams, RpcError } from '../jsonrpc/error.ts'
import { metaKeys } from '../mcp/meta.ts'
import type { SubscriptionFilter } from '../mcp/types/subscriptions.ts'
import { limits } from '../util/limits.ts'
import { isRecord, type Params, type ServerRequest } from './request.ts'
import type { Change, Subscriber, Subscriptions } from './subscriptions.ts'

/** What can be listened to on a server, beside resources that exist. */
export interface Audible {
  readonly tools: boolean
  readonly prompts: boolean
  readonly resources: boolean
}

/**
 * Answers `subscriptions/listen`: acknowledges first, then tells of changes until the caller cancels
 * or the server ends. Every message carries the id of the request, so that several streams can share
 * a connection.
 */
export function listen(
  request: ServerRequest,
  subscriptions: Subscriptions,
  audible: Audible,
): Promise<Params> {
  const { exchange, id, session } = request
  if (typeof id !== 'string' && typeof id !== 'number') {
    throw invalidParams('a subscription needs an id that can be repeated in its messages')
  }
  if (session !== undefined && session.endListens.size >= limits.listens.default) {
    throw new RpcError(-32000, 'Too many subscriptions on this connection')
  }
  const filter = filterOf(request.params.notifications, audible)
  const _meta = { [metaKeys.subscriptionId]: id }
  const send = (method: string, params: object): void => {
    const told = exchange.notify(method, { ...params, _meta })
    if (told !== undefined) told.then(undefined, () => {})
  }
  send('notifications/subscriptions/acknowledged', { notifications: filter })
  return new Promise(resolve => {
    const subscriber = new Listener(filter, send)
    const end = (): void => {
      subscriptions.remove(subscriber)
      session?.endListens.delete(end)
      resolve({ _meta })
    }
    subscriptions.add(subscriber)
    session?.endListens.add(end)
    exchange.signal.addEventListener('abort', end, { once: true })
  })
}

class Listener implements Subscriber {
  readonly #filter: SubscriptionFilter
  readonly #uris: ReadonlySet<string>
  readonly #send: (method: string, params: object) => void

  constructor(filter: SubscriptionFilter, send: (method: string, params: object) => void) {
    this.#filter = filter
    this.#uris = new Set(filter.resourceSubscriptions)
    this.#send = send
  }

  wants(change: Change): boolean {
    switch (change.type) {
      case 'tools':
        return this.#filter.toolsListChanged === true
      case 'prompts':
        return this.#filter.promptsListChanged === true
      case 'resources':
        return this.#filter.resourcesListChanged === true
      case 'resource':
        return this.#uris.has(change.uri)
      case 'task':
        return this.#filter.taskIds?.includes(change.taskId) === true
    }
  }

  tell(change: Change): void {
    if (change.type === 'resource')
      this.#send('notifications/resources/updated', { uri: change.uri })
    else if (change.type === 'task') this.#send('notifications/tasks', change.params)
    else this.#send(`notifications/${change.type}/list_changed`, {})
  }
}

/** The part of what was asked for that this server can tell of. */
function filterOf(wanted: unknown, audible: Audible): SubscriptionFilter {
  if (!isRecord(wanted)) throw invalidParams('notifications must be an object')
  const uris = wanted.resourceSubscriptions
  if (uris !== undefined && !(Array.isArray(uris) && uris.every(uri => typeof uri === 'string'))) {
    throw invalidParams('resourceSubscriptions must be a list of URIs')
  }
  if (Array.isArray(uris) && uris.length > limits.subscribedUris.default) {
    throw invalidParams(`resourceSubscriptions may have ${limits.subscribedUris.default} entries`)
  }
  return {
    ...(wanted.toolsListChanged === true && audible.tools && { toolsListChanged: true }),
    ...(wanted.promptsListChanged === true && audible.prompts && { promptsListChanged: true }),
    ...(wanted.resourcesListChanged === true &&
      audible.resources && { resourcesListChanged: true }),
    ...(Array.isArray(uris) && audible.resources && { resourceSubscriptions: uris }),
  }
}
