/** Sends the requests by which sessions subscribe. */
type Subscribe = (
  method: 'resources/subscribe' | 'resources/unsubscribe',
  uri: string,
) => Promise<unknown>

interface Entry {
  wanted: number
  /** Whether the server knows of it, as far as this side has heard. */
  isTold: boolean
  /** The telling that is going on. */
  telling: Promise<void> | undefined
}

/**
 * The resources a session is subscribed to. However many want the same one, the server is told once,
 * and told again when the last has left.
 */
export class Subscribed {
  readonly #entries = new Map<string, Entry>()
  readonly #subscribe: Subscribe

  constructor(subscribe: Subscribe) {
    this.#subscribe = subscribe
  }

  /** Settles when the server has been told. Each call is undone by one `remove`, also if it rejects. */
  add(uri: string): Promise<void> {
    let entry = this.#entries.get(uri)
    if (entry === undefined) {
      entry = { wanted: 0, isTold: false, telling: undefined }
      this.#entries.set(uri, entry)
    }
    entry.wanted++
    return this.#tell(uri, entry)
  }

  /** Settles when the server has been told, if it had to be. */
  remove(uri: string): Promise<void> {
    const entry = this.#entries.get(uri)
    if (entry === undefined) return Promise.resolve()
    entry.wanted--
    return this.#tell(uri, entry)
  }

  /** The server is another one, or has forgotten everything. */
  forget(): void {
    for (const [uri, entry] of this.#entries) {
      entry.isTold = false
      if (entry.wanted <= 0) this.#entries.delete(uri)
    }
  }

  /** Settles when the server knows of one that was added before. */
  async tell(uri: string): Promise<void> {
    const entry = this.#entries.get(uri)
    if (entry !== undefined) await this.#tell(uri, entry)
  }

  #tell(uri: string, entry: Entry): Promise<void> {
    entry.telling ??= this.#reconcile(uri, entry).finally(() => {
      entry.telling = undefined
    })
    return entry.telling
  }

  /** One request at a time, until what the server knows is what is wanted. */
  async #reconcile(uri: string, entry: Entry): Promise<void> {
    while (entry.isTold !== entry.wanted > 0) {
      const isWanted = !entry.isTold
      await this.#subscribe(isWanted ? 'resources/subscribe' : 'resources/unsubscribe', uri)
      entry.isTold = isWanted
    }
    if (entry.wanted <= 0) this.#entries.delete(uri)
  }
}
