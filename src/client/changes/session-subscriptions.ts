/** Sends a subscribe or unsubscribe request in a session. */
type Subscribe = (
  method: 'resources/subscribe' | 'resources/unsubscribe',
  uri: string,
) => Promise<unknown>

interface Entry {
  /** How many change subscriptions include the resource. */
  wanted: number
  /** Whether the server has confirmed the subscription. */
  isSubscribed: boolean
  /** The reconciliation in progress. */
  reconciling: Promise<void> | undefined
}

/**
 * The resources that a session is subscribed to. The client subscribes once for any number of users of the
 * same resource, and unsubscribes when the last one is gone.
 */
export class SessionSubscriptions {
  readonly #entries = new Map<string, Entry>()
  readonly #subscribe: Subscribe

  constructor(subscribe: Subscribe) {
    this.#subscribe = subscribe
  }

  /** Settles when the session is subscribed. Each call must be undone by one `remove`, also if it rejects. */
  add(uri: string): Promise<void> {
    let entry = this.#entries.get(uri)
    if (entry === undefined) {
      entry = { wanted: 0, isSubscribed: false, reconciling: undefined }
      this.#entries.set(uri, entry)
    }
    entry.wanted++
    return this.#update(uri, entry)
  }

  /** Settles when the session is unsubscribed, if this was the last user of the resource. */
  remove(uri: string): Promise<void> {
    const entry = this.#entries.get(uri)
    if (entry === undefined) return Promise.resolve()
    entry.wanted--
    return this.#update(uri, entry)
  }

  /** Marks all resources as not subscribed, because the session is a new one. */
  reset(): void {
    for (const [uri, entry] of this.#entries) {
      entry.isSubscribed = false
      if (entry.wanted <= 0) this.#entries.delete(uri)
    }
  }

  /** Settles when the session is subscribed to a resource that was added before. */
  async ensure(uri: string): Promise<void> {
    const entry = this.#entries.get(uri)
    if (entry !== undefined) await this.#update(uri, entry)
  }

  #update(uri: string, entry: Entry): Promise<void> {
    entry.reconciling ??= this.#reconcile(uri, entry).finally(() => {
      entry.reconciling = undefined
    })
    return entry.reconciling
  }

  /** Sends one request at a time, until the server has the requested state. */
  async #reconcile(uri: string, entry: Entry): Promise<void> {
    while (entry.isSubscribed !== entry.wanted > 0) {
      const isIncluded = !entry.isSubscribed
      await this.#subscribe(isIncluded ? 'resources/subscribe' : 'resources/unsubscribe', uri)
      entry.isSubscribed = isIncluded
    }
    if (entry.wanted <= 0) this.#entries.delete(uri)
  }
}
