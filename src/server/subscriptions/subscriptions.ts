import type { Caller } from '../../mcp/caller.ts'
import type { ListKind } from '../../mcp/list-changes.ts'
import type { SharedChange } from '../../mcp/shared-changes.ts'
import { KiB } from '../../util/limits/limit.ts'
import { limits } from '../../util/limits/limits.ts'
import type { EventListeners } from '../core/events.ts'
import type { Session } from '../session.ts'

/** A change that subscribers may want to be notified of. */
export type ChangeNotice =
  | {
      readonly type: ListKind
      /** The id of the principal for which alone the list has changed; undefined for all. */
      readonly principal?: string
    }
  | {
      readonly type: 'resource'
      readonly uri: string
      /** Whether a subscriber may still know of the resource; undefined if all may. */
      readonly isFor?: (caller: Caller) => boolean
    }
  | {
      readonly type: 'task'
      readonly taskId: string
      readonly params: Readonly<Record<string, unknown>>
    }

/** A receiver of changes: a session, or one listen stream. */
export interface Subscriber {
  /** Returns whether the receiver gets this change. */
  accepts(change: ChangeNotice): boolean
  /** Hands a change to the receiver. */
  deliver(change: ChangeNotice): void
}

/** The client that subscribes to a resource: a session, or the caller of a listen stream. */
export interface Watcher {
  readonly caller: Caller
  readonly session: Session | undefined
}

/** A mounted server, whose resources are among those of this one. */
export interface MountedSubscriptions {
  readonly subscriptions: Subscriptions
  /** Whether a resource belongs to the mounted server. */
  has(uri: string): boolean
}

/**
 * Delivers changes to subscribers, in both eras. Changes of one list that are published in the same turn
 * are sent once: the client reads the whole list again anyway.
 */
export class Subscriptions {
  readonly #onError: (error: unknown) => void
  readonly #events: EventListeners
  readonly #mounted = new Set<MountedSubscriptions>()
  readonly #subscribers = new Map<Subscriber, (() => void) | undefined>()
  readonly #due = new Map<string, ChangeNotice>()
  /** The number of subscribers of each resource. */
  readonly #watched = new Map<string, number>()
  /** What all subscriptions to resources count. */
  #weight = 0
  #isScheduled = false
  /** Called when a resource gets its first subscriber (true) and when it loses its last one (false). */
  onWatched: ((uri: string, isWatched: boolean) => void) | undefined
  /**
   * Set where changes come from elsewhere: settles when changes of these resources, which are watched, will
   * be published. Never rejects. Subscriptions are confirmed to clients only then.
   */
  whenWatched: ((uris: Iterable<string>) => Promise<void>) | undefined

  /** Set where other processes serve the same endpoint: called with each change of this process. */
  onPublished: ((change: SharedChange) => void) | undefined

  /** `onError` receives what a subscriber throws in `deliver`. */
  constructor(onError: (error: unknown) => void, events: EventListeners) {
    this.#onError = onError
    this.#events = events
  }

  /**
   * Publishes the changes of a mounted server here too, and passes subscriptions to its resources on to it.
   * Returns a function that ends this.
   */
  mount(mounted: MountedSubscriptions): () => void {
    const forward: Subscriber = {
      // Lists change here when the mounted entries do, except for one principal.
      accepts: change => change.type === 'resource' || 'principal' in change,
      deliver: change => this.publish(change),
    }
    mounted.subscriptions.add(forward)
    this.#mounted.add(mounted)
    return () => {
      mounted.subscriptions.remove(forward)
      this.#mounted.delete(mounted)
    }
  }

  /** Adds a subscriber. `end` completes its listen stream, where it has one. */
  add(subscriber: Subscriber, end?: () => void): void {
    this.#subscribers.set(subscriber, end)
  }

  has(subscriber: Subscriber): boolean {
    return this.#subscribers.has(subscriber)
  }

  remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber)
  }

  /** Whether further subscriptions to these resources are within the limit `subscriptions`. */
  hasRoomFor(uris: Iterable<string>): boolean {
    let weight = this.#weight
    for (const uri of uris) weight += weightOf(uri)
    return weight <= limits.subscriptions.default
  }

  /** Counts a subscriber of a resource. Each call needs a matching `unwatch`. */
  watch(uri: string, { caller, session }: Watcher): void {
    this.#weight += weightOf(uri)
    const count = (this.#watched.get(uri) ?? 0) + 1
    this.#watched.set(uri, count)
    if (count === 1) this.onWatched?.(uri, true)
    this.#events.emit('subscribe', { uri, caller, session })
    for (const { has, subscriptions } of this.#mounted) {
      if (has(uri)) subscriptions.watch(uri, { caller, session })
    }
  }

  unwatch(uri: string, { caller, session }: Watcher): void {
    const count = this.#watched.get(uri) ?? 0
    if (count > 0) this.#weight -= weightOf(uri)
    if (count > 1) this.#watched.set(uri, count - 1)
    else if (this.#watched.delete(uri)) this.onWatched?.(uri, false)
    this.#events.emit('unsubscribe', { uri, caller, session })
    for (const { subscriptions } of this.#mounted) {
      if (subscriptions.isWatched(uri)) subscriptions.unwatch(uri, { caller, session })
    }
  }

  /** Whether a resource has subscribers. */
  isWatched(uri: string): boolean {
    return this.#watched.has(uri)
  }

  /** The resources that have subscribers. */
  watched(): Iterable<string> {
    return this.#watched.keys()
  }

  /** The number of subscribers of each of these resources. */
  get watcherCounts(): ReadonlyMap<string, number> {
    return this.#watched
  }

  /** Completes every listen stream. */
  endAll(): void {
    for (const end of [...this.#subscribers.values()]) end?.()
  }

  /** Notifies the subscribers of a change in a microtask, after the code that is running. */
  publish(change: ChangeNotice): void {
    if (this.onPublished !== undefined && isShared(change)) this.onPublished(change)
    this.deliver(change)
  }

  /** Notifies the subscribers of a change of another process, as `publish` does. */
  deliver(change: ChangeNotice): void {
    if (this.#subscribers.size === 0) return
    this.#due.set(keyOf(change), change)
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => this.#deliverAll())
  }

  #deliverAll(): void {
    this.#isScheduled = false
    const due = [...this.#due.values()]
    this.#due.clear()
    for (const subscriber of [...this.#subscribers.keys()]) {
      for (const change of due) if (subscriber.accepts(change)) this.#deliver(subscriber, change)
    }
  }

  /** An error of one subscriber must neither end the process nor keep the change from the others. */
  #deliver(subscriber: Subscriber, change: ChangeNotice): void {
    try {
      subscriber.deliver(change)
    } catch (error) {
      this.#onError(error)
    }
  }
}

/** Whether other processes can be notified of a change. */
function isShared(change: ChangeNotice): change is SharedChange {
  return change.type !== 'task' && !('isFor' in change)
}

/** Whether a change concerns a caller: all changes do but those for another principal. */
export function concerns(change: ChangeNotice, caller: Caller | undefined): boolean {
  if (change.type === 'task') return true
  if (change.type === 'resource') {
    return change.isFor === undefined || (caller !== undefined && change.isFor(caller))
  }
  return change.principal === undefined || change.principal === caller?.principal?.id
}

function weightOf(uri: string): number {
  return 1 + Math.floor(uri.length / KiB)
}

function keyOf(change: ChangeNotice): string {
  if (change.type === 'resource') return `resource ${change.uri}`
  if (change.type === 'task') return `task ${change.taskId}`
  return change.principal === undefined ? change.type : `${change.type} ${change.principal}`
}
