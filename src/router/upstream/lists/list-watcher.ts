import type { Change, ChangeFilter } from '../../../client/changes/changes.ts'
import type { Changes } from '../../../client/changes/subscription.ts'
import type { Client } from '../../../client/client.ts'
import { type ListKind, listKinds } from '../../../mcp/list-changes.ts'
import { limits } from '../../../util/limits/limits.ts'
import { timed } from '../../../util/time/deadline.ts'
import { ListReader, type ListReaderHost } from './list-reader.ts'
import { ResourceWatcher, type ResourceWatcherHost } from './resource-watcher.ts'

/** What a list watcher needs, and what it reports. */
export interface ListWatcherHost extends ListReaderHost, ResourceWatcherHost {
  /** The resources that callers are subscribed to. */
  subscribed(): Iterable<string>
}

/**
 * Watches the features of a server over one connection: reads its lists, reads them again when they
 * change, and subscribes to the resources that callers are subscribed to.
 */
export class ListWatcher {
  readonly #client: Client
  readonly #host: ListWatcherHost
  readonly #stop = new AbortController()
  readonly #readers: ReadonlyMap<ListKind, ListReader>
  readonly #resources: ResourceWatcher

  constructor(client: Client, host: ListWatcherHost) {
    this.#client = client
    this.#host = host
    this.#readers = new Map(listKinds.map(kind => [kind, new ListReader(client, kind, host)]))
    this.#resources = new ResourceWatcher(client, this.#stop.signal, host)
  }

  start(): void {
    void this.#watchLists()
    this.updateSubscriptions()
  }

  /** Subscribes to the resources that callers are subscribed to now, and to no others. */
  updateSubscriptions(): void {
    this.#resources.watch(this.#host.subscribed())
  }

  /** Settles when the server has confirmed or refused the subscriptions of resources. Never rejects. */
  get whenSubscribed(): Promise<void> {
    return this.#resources.settled
  }

  stop(): void {
    for (const reader of this.#readers.values()) reader.stop()
    this.#stop.abort()
  }

  /** Reads the lists once the subscription to their changes is active, so that no change is missed. */
  async #watchLists(): Promise<void> {
    const { capabilities, revision } = this.#client.server
    const watched = listKinds.filter(kind => capabilities[kind]?.listChanged === true)
    const filter: ChangeFilter = Object.fromEntries(watched.map(kind => [kind, true]))
    const isWatched = watched.length > 0
    // In a session, list changes are sent without a request.
    const isRequested = isWatched && revision.features.subscriptions !== 'session'
    if (!isRequested) this.#readAll()
    if (!isWatched) return
    const changes = this.#client.changes(filter, { signal: this.#stop.signal })
    if (isRequested) this.#readOnceActive(changes)
    try {
      for await (const change of changes) this.#onChange(change)
    } catch {
      // The server refuses it; or the next connection reads the lists and subscribes again.
    }
  }

  #readOnceActive(changes: Changes): void {
    const { deadlines } = this.#host
    let isRead = false
    const read = (): void => {
      deadlines.stop(late)
      if (isRead) return
      isRead = true
      this.#readAll()
    }
    const late = timed(read)
    deadlines.start(late, limits.subscribeWaitMs.default)
    changes.ready.then(() => {
      // Changes between the two are missing from what was read.
      if (isRead) this.#refreshAll()
      else read()
    }, read)
  }

  #readAll(): void {
    if (this.#stop.signal.aborted) return
    for (const reader of this.#readers.values()) void reader.start()
  }

  #refreshAll(): void {
    for (const reader of this.#readers.values()) reader.refresh()
  }

  #onChange(change: Change): void {
    switch (change.type) {
      case 'lagged':
      case 'reconnected':
        this.#refreshAll()
        return
      case 'resource':
      case 'task':
        return
      default:
        this.#readers.get(change.type)?.refresh()
    }
  }
}
