import { invalidParams } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { declaresExtension, missingExtension, tasksExtension } from '../../mcp/extension.ts'
import {
  type ListKind,
  listChangedMethods,
  listFilter,
  listFilterMembers,
} from '../../mcp/list-changes.ts'
import { metaKeys } from '../../mcp/meta.ts'
import type { SubscriptionFilter } from '../../mcp/types/subscriptions.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { type IncomingRequest, type NamedParams, whenReady } from '../request.ts'
import {
  type ChangeNotice,
  concerns,
  type Subscriber,
  type Subscriptions,
} from './subscriptions.ts'

/** The kinds of changes that a server can notify of. */
export interface ListenableFeatures extends Readonly<Record<ListKind, boolean>> {
  readonly tasks: TaskFinder | undefined
  /** Whether the caller of a request may subscribe to a resource; absent where every caller may. */
  readonly isVisible?: (uri: string, request: IncomingRequest) => boolean | Promise<boolean>
}

/** Returns the current state of those of the given tasks that the caller may see. */
export type TaskFinder = (
  caller: Caller,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, object>>

/**
 * Answers `subscriptions/listen`: sends an acknowledgement first, then a notification for each change
 * until the caller cancels or the server closes. Every message carries the id of the request, so that
 * several streams can share a connection.
 */
export function openListenStream(
  request: IncomingRequest,
  subscriptions: Subscriptions,
  listenable: ListenableFeatures,
): Promise<NamedParams> {
  const { id } = request
  if (typeof id !== 'string' && typeof id !== 'number') {
    throw invalidParams('a subscription needs an id: its messages repeat it')
  }
  const wanted = request.params.notifications
  const taskIds = taskIdsOf(wanted)
  const supported = filterOf(wanted, listenable)
  const filter = visibleFilter(supported, listenable, request)
  return whenReady(filter, known =>
    open(request, subscriptions, listenable, known, taskIds),
  ) as Promise<NamedParams>
}

/** Leaves out the resources that the caller may not see, as if they did not exist. */
function visibleFilter(
  filter: SubscriptionFilter,
  { isVisible }: ListenableFeatures,
  request: IncomingRequest,
): SubscriptionFilter | Promise<SubscriptionFilter> {
  const uris = filter.resourceSubscriptions
  if (uris === undefined || isVisible === undefined) return filter
  const seen = uris.map(uri => isVisible(uri, request))
  const keep = (known: readonly unknown[]): SubscriptionFilter => ({
    ...filter,
    resourceSubscriptions: uris.filter((_, at) => known[at] === true),
  })
  return seen.some(one => one instanceof Promise) ? Promise.all(seen).then(keep) : keep(seen)
}

function open(
  request: IncomingRequest,
  subscriptions: Subscriptions,
  listenable: ListenableFeatures,
  filter: SubscriptionFilter,
  taskIds: readonly string[] | undefined,
): Promise<NamedParams> {
  const { caller } = request
  if (taskIds === undefined) return follow(request, subscriptions, filter)
  if (!declaresExtension(caller.capabilities, tasksExtension)) {
    throw missingExtension(tasksExtension)
  }
  if (listenable.tasks === undefined) return follow(request, subscriptions, filter)
  // Collects changes of the tasks while they are looked up, which would be missed otherwise.
  const missed = new Map<string, object>()
  const subscriber: Subscriber = {
    accepts: change => change.type === 'task' && taskIds.includes(change.taskId),
    deliver: change => change.type === 'task' && missed.set(change.taskId, change.params),
  }
  subscriptions.add(subscriber)
  return listenable.tasks(caller, taskIds).then(
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
  { exchange, session, id, caller }: IncomingRequest,
  subscriptions: Subscriptions,
  filter: SubscriptionFilter,
  tasks: readonly object[] = [],
): Promise<NamedParams> {
  if (session !== undefined && session.endListenStreams.size >= limits.listenStreams.default) {
    const details = `the limit of ${limits.listenStreams.default} listen streams per connection is reached`
    throw invalidParams('Too many subscriptions', { data: { details } })
  }
  const _meta = { [metaKeys.subscriptionId]: id }
  const send = (method: string, params: object): void => {
    const sent = exchange.notify(method, { ...params, _meta })
    if (sent !== undefined) sent.then(undefined, () => {})
  }
  if (!subscriptions.hasRoomFor(filter.resourceSubscriptions ?? [])) {
    const details = 'the server has too many subscriptions'
    throw invalidParams('Too many subscriptions', { data: { details } })
  }
  if (exchange.signal.aborted) return Promise.resolve({ _meta })
  return new Promise(resolve => {
    const subscriber = new Listener(filter, caller, send)
    const watcher = { caller, session: undefined }
    let isEnded = false
    const end = (): void => {
      if (isEnded) return
      isEnded = true
      subscriptions.remove(subscriber)
      for (const uri of subscriber.uris) subscriptions.unwatch(uri, watcher)
      session?.endListenStreams.delete(end)
      // On a shared channel nothing else ends with the stream. The result is sent first, so that a
      // client that takes the notification for a failure already has the result.
      exchange.afterReply?.(() => send('notifications/cancelled', { requestId: id }))
      resolve({ _meta })
    }
    const acknowledge = (): void => {
      if (isEnded) return
      send('notifications/subscriptions/acknowledged', { notifications: filter })
      // A task may have ended before the stream began; then no change of it would ever be sent.
      for (const task of tasks) send('notifications/tasks', task)
      subscriber.release()
    }
    subscriptions.add(subscriber, end)
    for (const uri of subscriber.uris) subscriptions.watch(uri, watcher)
    session?.endListenStreams.add(end)
    exchange.onShutdown?.(end)
    exchange.signal.addEventListener('abort', end, { once: true })
    const watched =
      subscriber.uris.size > 0 ? subscriptions.whenWatched?.(subscriber.uris) : undefined
    if (watched === undefined) acknowledge()
    else void watched.then(acknowledge)
  })
}

class Listener implements Subscriber {
  readonly #filter: SubscriptionFilter
  readonly #caller: Caller
  readonly uris: ReadonlySet<string>
  readonly #send: (method: string, params: object) => void
  /** Changes before the acknowledgement, which is sent first; undefined after it. */
  #held: ChangeNotice[] | undefined = []

  constructor(
    filter: SubscriptionFilter,
    caller: Caller,
    send: (method: string, params: object) => void,
  ) {
    this.#filter = filter
    this.#caller = caller
    this.uris = new Set(filter.resourceSubscriptions)
    this.#send = send
  }

  accepts(change: ChangeNotice): boolean {
    if (!concerns(change, this.#caller)) return false
    if (change.type === 'resource') return this.uris.has(change.uri)
    if (change.type === 'task') return this.#filter.taskIds?.includes(change.taskId) === true
    return this.#filter[listFilterMembers[change.type]] === true
  }

  /** Delivers the changes so far, and each further one at once. */
  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const change of held) this.deliver(change)
  }

  deliver(change: ChangeNotice): void {
    if (this.#held !== undefined) {
      if (!this.#held.some(one => isSameChange(one, change))) this.#held.push(change)
    } else if (change.type === 'resource')
      this.#send('notifications/resources/updated', { uri: change.uri })
    else if (change.type === 'task') this.#send('notifications/tasks', change.params)
    else this.#send(listChangedMethods[change.type], {})
  }
}

/** Whether one notification is enough for both. */
function isSameChange(one: ChangeNotice, other: ChangeNotice): boolean {
  if (one.type === 'task' || one.type !== other.type) return false
  return one.type !== 'resource' || (other.type === 'resource' && one.uri === other.uri)
}

/** The tasks whose changes the caller requests; undefined if it names none. */
function taskIdsOf(wanted: unknown): readonly string[] | undefined {
  const ids = isRecord(wanted) ? wanted.taskIds : undefined
  if (ids === undefined) return undefined
  if (!Array.isArray(ids) || !ids.every(id => typeof id === 'string')) {
    throw invalidParams('taskIds must be a list of ids')
  }
  if (ids.length > limits.listenStreamTasks.default) {
    throw invalidParams(`taskIds must have at most ${limits.listenStreamTasks.default} entries`)
  }
  return ids
}

/** The part of the requested filter that this server supports. */
function filterOf(wanted: unknown, listenable: ListenableFeatures): SubscriptionFilter {
  if (!isRecord(wanted)) throw invalidParams('notifications must be an object')
  const uris = wanted.resourceSubscriptions
  if (uris !== undefined && !(Array.isArray(uris) && uris.every(uri => typeof uri === 'string'))) {
    throw invalidParams('resourceSubscriptions must be a list of URIs')
  }
  if (Array.isArray(uris) && uris.length > limits.subscribedUris.default) {
    throw invalidParams(
      `resourceSubscriptions must have at most ${limits.subscribedUris.default} entries`,
    )
  }
  return {
    ...listFilter(kind => wanted[listFilterMembers[kind]] === true && listenable[kind]),
    ...(Array.isArray(uris) && listenable.resources && { resourceSubscriptions: uris }),
  }
}
