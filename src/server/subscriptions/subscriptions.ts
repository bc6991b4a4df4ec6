/** Something that changed, and that somebody may want to know. */
export type Change =
  | { readonly type: 'tools' | 'prompts' | 'resources' }
  | { readonly type: 'resource'; readonly uri: string }
  | {
      readonly type: 'task'
      readonly taskId: string
      readonly params: Readonly<Record<string, unknown>>
    }

/** Whoever wants to know: a session, or one listen stream. */
export interface Subscriber {
  wants(change: Change): boolean
  tell(change: Change): void
}

/**
 * Brings changes to whoever wants them, the same way in every era. Changes of a list that come
 * together are told once: the list is read again anyway.
 */
export class Subscriptions {
  readonly #onError: (error: unknown) => void
  readonly #subscribers = new Map<Subscriber, (() => void) | undefined>()
  readonly #due = new Map<string, Change>()
  /** How many want to know of a resource. */
  readonly #wanted = new Map<string, number>()
  #isScheduled = false
  /** Told when the first one wants to know of a resource, and when the last one no longer does. */
  onWanted: ((uri: string, isWanted: boolean) => void) | undefined

  /** `onError` is told of what could not be told to a subscriber. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** `end` ends a stream of its own in good order. */
  add(subscriber: Subscriber, end?: () => void): void {
    this.#subscribers.set(subscriber, end)
  }

  has(subscriber: Subscriber): boolean {
    return this.#subscribers.has(subscriber)
  }

  remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber)
  }

  /** Somebody wants to know of a resource; as often as it is wanted, it has to be unwanted. */
  want(uri: string): void {
    const count = (this.#wanted.get(uri) ?? 0) + 1
    this.#wanted.set(uri, count)
    if (count === 1) this.onWanted?.(uri, true)
  }

  unwant(uri: string): void {
    const count = this.#wanted.get(uri) ?? 0
    if (count > 1) this.#wanted.set(uri, count - 1)
    else if (this.#wanted.delete(uri)) this.onWanted?.(uri, false)
  }

  /** The resources that anybody wants to know of. */
  wanted(): Iterable<string> {
    return this.#wanted.keys()
  }

  /** Ends every stream, wherever it came from. */
  endAll(): void {
    for (const end of [...this.#subscribers.values()]) end?.()
  }

  /** Tells of a change once the code that is running has finished. */
  announce(change: Change): void {
    if (this.#subscribers.size === 0) return
    this.#due.set(keyOf(change), change)
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => this.#tellAll())
  }

  #tellAll(): void {
    this.#isScheduled = false
    const due = [...this.#due.values()]
    this.#due.clear()
    for (const subscriber of [...this.#subscribers.keys()]) {
      for (const change of due) if (subscriber.wants(change)) this.#tell(subscriber, change)
    }
  }

  /** What one of them cannot be told must neither end this process nor be kept from the others. */
  #tell(subscriber: Subscriber, change: Change): void {
    try {
      subscriber.tell(change)
    } catch (error) {
      this.#onError(error)
    }
  }
}

function keyOf(change: Change): string {
  if (change.type === 'resource') return `resource ${change.uri}`
  return change.type === 'task' ? `task ${change.taskId}` : change.type
}
