import type { ListKind } from '../../mcp/list-changes.ts'
import { KiB } from '../../util/limits/limit.ts'
import { limits } from '../../util/limits/limits.ts'

/** A change that subscribers may want to be notified of. */
export type ChangeNotice =
  | { readonly type: ListKind }
  | { readonly type: 'resource'; readonly uri: string }
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

/**
 * Delivers changes to subscribers, in both eras. Changes of one list that are published in the same turn
 * are sent once: the client reads the whole list again anyway.
 */
export class Subscriptions {
  readonly #onError: (error: unknown) => void
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

  /** `onError` receives what a subscriber throws in `deliver`. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
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
  watch(uri: string): void {
    this.#weight += weightOf(uri)
    const count = (this.#watched.get(uri) ?? 0) + 1
    this.#watched.set(uri, count)
    if (count === 1) this.onWatched?.(uri, true)
  }

  unwatch(uri: string): void {
    const count = this.#watched.get(uri) ?? 0
    if (count > 0) this.#weight -= weightOf(uri)
    if (count > 1) this.#watched.set(uri, count - 1)
    else if (this.#watched.delete(uri)) this.onWatched?.(uri, false)
  }

  /** The resources that have subscribers. */
  watched(): Iterable<string> {
    return this.#watched.keys()
  }

  /** Completes every listen stream. */
  endAll(): void {
    for (const end of [...this.#subscribers.values()]) end?.()
  }

  /** Notifies the subscribers of a change in a microtask, after the code that is running. */
  publish(change: ChangeNotice): void {
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

function weightOf(uri: string): number {
  return 1 + Math.floor(uri.length / KiB)
}

function keyOf(change: ChangeNotice): string {
  if (change.type === 'resource') return `resource ${change.uri}`
  return change.type === 'task' ? `task ${change.taskId}` : change.type
}
