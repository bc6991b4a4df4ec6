import { invalidParams } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { declaresExtension, missingExtension, tasksExtension } from '../../mcp/extension.ts'
import { metaKeys } from '../../mcp/meta.ts'
import type { SubscriptionFilter } from '../../mcp/types/subscriptions.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import type { Params, ServerRequest } from '../request.ts'
import type { Change, Subscriber, Subscriptions } from './subscriptions.ts'

/** What can be listened to on a server, beside resources that exist. */
export interface Audible {
  readonly tools: boolean
  readonly prompts: boolean
  readonly resources: boolean
  readonly tasks: TaskFinder | undefined
}

/** Finds those of some tasks that the caller may hear of, as they are now. */
export type TaskFinder = (
  caller: Caller,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, object>>

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
  const { id, caller } = request
  if (typeof id !== 'string' && typeof id !== 'number') {
    throw invalidParams('a subscription needs an id that can be repeated in its messages')
  }
  const wanted = request.params.notifications
  const filter = filterOf(wanted, audible)
  const taskIds = taskIdsOf(wanted)
  if (taskIds === undefined) return follow(request, subscriptions, filter)
  if (!declaresExtension(caller.capabilities, tasksExtension)) {
    throw missingExtension(tasksExtension)
  }
  if (audible.tasks === undefined) return follow(request, subscriptions, filter)
  // What happens to them while they are looked for would else be told to nobody.
  const missed = new Map<string, object>()
  const subscriber: Subscriber = {
    wants: change => change.type === 'task' && taskIds.includes(change.taskId),
    tell: change => change.type === 'task' && missed.set(change.taskId, change.params),
  }
  subscriptions.add(subscriber)
  return audible.tasks(caller, taskIds).then(
    tasks => {
      subscriptions.remove(subscriber)
      const ids = [...tasks.keys()]
      const states = Array.from(tasks, ([taskId, task]) => missed.get(taskId) ?? task)
      return follow(request, subscriptions, { ...filter, taskIds: ids }, states)
    },
    error => {
      subscriptions.remove(subscriber)
      throw error
    },
  )
}

function follow(
  { exchange, session, id }: ServerRequest,
  subscriptions: Subscriptions,
  filter: SubscriptionFilter,
  tasks: readonly object[] = [],
): Promise<Params> {
  if (session !== undefined && session.endListens.size >= limits.listens.default) {
    const details = `this connection has ${limits.listens.default} subscriptions already`
    throw invalidParams('Too many subscriptions', { data: { details } })
  }
  const _meta = { [metaKeys.subscriptionId]: id }
  const send = (method: string, params: object): void => {
    const told = exchange.notify(method, { ...params, _meta })
    if (told !== undefined) told.then(undefined, () => {})
  }
  if (exchange.signal.aborted) return Promise.resolve({ _meta })
  send('notifications/subscriptions/acknowledged', { notifications: filter })
  // A task may have ended before anybody listened; then nothing would ever be heard of it.
  for (const task of tasks) send('notifications/tasks', task)
  return new Promise(resolve => {
    const subscriber = new Listener(filter, send)
    let isOver = false
    const end = (): void => {
      if (isOver) return
      isOver = true
      subscriptions.remove(subscriber)
      for (const uri of subscriber.uris) subscriptions.unwant(uri)
      session?.endListens.delete(end)
      // On a shared channel nothing else ends with the stream. The result comes first, so that a
      // client which takes the notification for a failure has already seen that it is none.
      exchange.afterReply?.(() => send('notifications/cancelled', { requestId: id }))
      resolve({ _meta })
    }
    subscriptions.add(subscriber, end)
    for (const uri of subscriber.uris) subscriptions.want(uri)
    session?.endListens.add(end)
    exchange.onEnding?.(end)
    exchange.signal.addEventListener('abort', end, { once: true })
  })
}

class Listener implements Subscriber {
  readonly #filter: SubscriptionFilter
  readonly uris: ReadonlySet<string>
  readonly #send: (method: string, params: object) => void

  constructor(filter: SubscriptionFilter, send: (method: string, params: object) => void) {
    this.#filter = filter
    this.uris = new Set(filter.resourceSubscriptions)
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
        return this.uris.has(change.uri)
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

/** The tasks that are to be told of; undefined where none are asked for. */
function taskIdsOf(wanted: unknown): readonly string[] | undefined {
  const ids = isRecord(wanted) ? wanted.taskIds : undefined
  if (ids === undefined) return undefined
  if (!Array.isArray(ids) || !ids.every(id => typeof id === 'string')) {
    throw invalidParams('taskIds must be a list of ids')
  }
  if (ids.length > limits.listenedTasks.default) {
    throw invalidParams(`taskIds may have ${limits.listenedTasks.default} entries`)
  }
  return ids
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
