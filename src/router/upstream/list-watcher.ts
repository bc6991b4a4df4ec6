import type { Change, ChangeFilter } from '../../client/changes/changes.ts'
import type { Client } from '../../client/client.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Deadlines, timed } from '../../util/time/deadline.ts'
import { type ListKind, type Lists, listKinds, readLists } from '../catalog/lists.ts'

/** What a list watcher needs, and what it reports. */
export interface ListWatcherHost {
  readonly timeoutMs: number
  readonly deadlines: Deadlines
  /** The resources that callers are subscribed to. */
  subscribed(): Iterable<string>
  /** Called with the lists that were read. */
  onLists(lists: Partial<Lists>): void
  onUpdated(uri: string): void
  /** A list could not be read: it stays as it was, and is read again after `listRetryMs`. */
  onError(error: unknown): void
}

/**
 * Watches the features of a server over one connection: reads its lists, reads them again when they
 * change, and subscribes to the resources that callers are subscribed to.
 */
export class ListWatcher {
  readonly #client: Client
  readonly #host: ListWatcherHost
  readonly #stop = new AbortController()
  /** Lists that have to be read; again, if they are being read. */
  readonly #due = new Set<ListKind>()
  /** Lists that could not be read. */
  readonly #missing = new Set<ListKind>()
  readonly #retry = timed(() => this.#readAgain())
  #reading: Promise<void> | undefined
  #subscription: AbortController | undefined
  #subscribed: ReadonlySet<string> = new Set()
  /** Resources that the server refused a subscription of. */
  readonly #refused = new Set<string>()

  constructor(client: Client, host: ListWatcherHost) {
    this.#client = client
    this.#host = host
  }

  start(): void {
    for (const kind of listKinds) this.#due.add(kind)
    this.#reading = this.#read()
    void this.#watch(this.#listFilter(), this.#stop.signal)
    this.updateSubscriptions()
  }

  /** Subscribes to the resources that callers are subscribed to now, and to no others. */
  updateSubscriptions(): void {
    if (this.#stop.signal.aborted || this.#client.server.capabilities.resources === undefined)
      return
    const wanted = new Set(this.#host.subscribed())
    for (const uri of this.#refused) {
      // Until it is subscribed anew it is left out, because it would fail the subscription of the others.
      if (!wanted.delete(uri)) this.#refused.delete(uri)
    }
    if (isSame(wanted, this.#subscribed)) return
    this.#subscribed = wanted
    const before = this.#subscription
    const subscription = new AbortController()
    this.#subscription = wanted.size === 0 ? undefined : subscription
    if (wanted.size > 0) {
      const signal = AbortSignal.any([this.#stop.signal, subscription.signal])
      void this.#watchResources([...wanted], signal)
    }
    // Only now, so that resources in both subscriptions are watched without a gap.
    before?.abort()
  }

  stop(): void {
    this.#host.deadlines.stop(this.#retry)
    this.#stop.abort()
  }

  #listFilter(): ChangeFilter {
    const { capabilities } = this.#client.server
    return {
      tools: capabilities.tools?.listChanged === true,
      prompts: capabilities.prompts?.listChanged === true,
      resources: capabilities.resources?.listChanged === true,
    }
  }

  /**
   * Subscribes to resources. A server that refuses one of them refuses all that are requested with it, so
   * the halves are requested then, until the refused resource is alone.
   */
  async #watchResources(uris: readonly string[], signal: AbortSignal): Promise<void> {
    const isRefused = await this.#watch({ resources: uris }, signal)
    if (!isRefused || signal.aborted) return
    const [first] = uris
    if (uris.length === 1 && first !== undefined) {
      this.#refused.add(first)
      return
    }
    const middle = uris.length >> 1
    const halves = [uris.slice(0, middle), uris.slice(middle)]
    await Promise.all(halves.map(half => this.#watchResources(half, signal)))
  }

  /** Handles changes until the signal aborts or the server ends it; returns whether the server refused. */
  async #watch(filter: ChangeFilter, signal: AbortSignal): Promise<boolean> {
    if (!Object.values(filter).some(Boolean)) return false
    try {
      for await (const change of this.#client.changes(filter, { signal })) this.#onChange(change)
    } catch (error) {
      // After any other failure the next connection reads the lists and subscribes to everything again.
      return error instanceof RpcError
    }
    return false
  }

  #onChange(change: Change): void {
    switch (change.type) {
      case 'tools':
      case 'prompts':
      case 'resources':
        this.#due.add(change.type)
        break
      case 'resource':
        this.#host.onUpdated(change.uri)
        return
      case 'lagged':
      case 'reconnected':
        for (const kind of listKinds) this.#due.add(kind)
        break
      default:
        return
    }
    this.#reading ??= this.#read()
  }

  async #read(): Promise<void> {
    while (this.#due.size > 0 && !this.#stop.signal.aborted) {
      const kinds = [...this.#due]
      this.#due.clear()
      const { lists, failures } = await readLists(this.#client, kinds, this.#host.timeoutMs)
      if (this.#stop.signal.aborted) return
      for (const kind of kinds) this.#missing.delete(kind)
      for (const { kind } of failures) this.#missing.add(kind)
      if (Object.keys(lists).length > 0) this.#host.onLists(lists)
      for (const { error } of failures) this.#host.onError(error)
    }
    this.#reading = undefined
    // A handler may have stopped the watcher.
    if (this.#stop.signal.aborted) return
    const { deadlines } = this.#host
    deadlines.stop(this.#retry)
    if (this.#missing.size > 0) deadlines.start(this.#retry, limits.listRetryMs.default)
  }

  #readAgain(): void {
    for (const kind of this.#missing) this.#due.add(kind)
    this.#reading ??= this.#read()
  }
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false
  for (const one of a) if (!b.has(one)) return false
  return true
}
