import type { Client } from '../../../client/client.ts'
import type { ListKind } from '../../../mcp/list-changes.ts'
import { type Deferred, deferred } from '../../../util/promises.ts'
import type { ReadList } from '../../catalog/lists.ts'
import { ListWatcher, type ListWatcherHost } from './list-watcher.ts'

/** What the list watchers of a server need, and what they report. */
export interface ListWatchersHost<T> extends Omit<ListWatcherHost, 'timeoutMs' | 'onRead'> {
  /** Time to wait for each page of a list. */
  timeoutMs(): number
  /** Returns whether callers see tools that were read in this run. */
  hasTools(): boolean
  /** A list of an instance was read, or could not be read. */
  onRead(instance: T, kind: ListKind, read: ReadList): void
}

/** Watches the lists of each connected instance of a server. `T` identifies an instance. */
export class ListWatchers<T> {
  readonly #host: ListWatchersHost<T>
  readonly #watchers = new Map<T, ListWatcher>()
  /** The kinds of lists that were read over the connection of each instance, or could not be read. */
  readonly #readKinds = new Map<T, Set<ListKind>>()
  /** Instances that wait until the lists of one of them have been read. */
  readonly #preparing = new Set<Deferred<void>>()

  constructor(host: ListWatchersHost<T>) {
    this.#host = host
  }

  /** The number of instances whose lists are watched. */
  get size(): number {
    return this.#watchers.size
  }

  /** Returns the kinds of lists that were read from an instance, or could not be read; undefined if it is not watched. */
  readKinds(instance: T): ReadonlySet<ListKind> | undefined {
    return this.#readKinds.get(instance)
  }

  /**
   * Starts to watch the lists of an instance. Settles when its tools have been read, or at once while callers
   * see the tools of another instance, or of this one before it was restarted.
   */
  watch(instance: T, client: Client): Promise<void> {
    const host = this.#host
    const listed = deferred<void>()
    const watcher = new ListWatcher(client, {
      timeoutMs: host.timeoutMs(),
      deadlines: host.deadlines,
      subscribed: () => host.subscribed(),
      onRead: (kind, read) => {
        this.#readKinds.get(instance)?.add(kind)
        host.onRead(instance, kind, read)
        if (kind === 'tools') this.#onToolsRead(listed, read.lists.tools !== undefined)
      },
      onSubscribed: uris => host.onSubscribed(uris),
      onUpdated: uri => host.onUpdated(uri),
    })
    this.#watchers.set(instance, watcher)
    this.#readKinds.set(instance, new Set())
    if (host.hasTools()) listed.resolve()
    else this.#preparing.add(listed)
    watcher.start()
    return listed.promise
  }

  /** Must be called when callers have subscribed to other resources. */
  updateSubscriptions(): void {
    for (const watcher of this.#watchers.values()) watcher.updateSubscriptions()
  }

  /** Settles when all instances have confirmed or refused the subscriptions of resources. Never rejects. */
  async whenSubscribed(): Promise<void> {
    await Promise.all(Array.from(this.#watchers.values(), ({ whenSubscribed }) => whenSubscribed))
  }

  /** Must be called when an instance was lost. */
  stop(instance: T): void {
    this.#watchers.get(instance)?.stop()
    this.#watchers.delete(instance)
    this.#readKinds.delete(instance)
  }

  stopAll(): void {
    for (const watcher of this.#watchers.values()) watcher.stop()
  }

  /** Lets the instance whose tools were read take calls, and all that wait for tools, if it has some. */
  #onToolsRead(listed: Deferred<void>, hasTools: boolean): void {
    const ready = hasTools ? [...this.#preparing] : []
    for (const { resolve } of [listed, ...ready]) resolve()
    this.#preparing.delete(listed)
    if (hasTools) this.#preparing.clear()
  }
}
