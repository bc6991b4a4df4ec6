import type { Changes } from '../../../client/changes/subscription.ts'
import type { Client } from '../../../client/client.ts'
import { RpcError } from '../../../jsonrpc/error.ts'

/** Where a resource watcher reports to. */
export interface ResourceWatcherHost {
  /**
   * Called when the server has confirmed subscriptions of resources that it did not have before, or may
   * have lost meanwhile: earlier updates of them may be missed.
   */
  onSubscribed(uris: readonly string[]): void
  onUpdated(uri: string): void
}

/** Subscribes to resources of a server over one connection. */
export class ResourceWatcher {
  readonly #client: Client
  readonly #host: ResourceWatcherHost
  readonly #stop: AbortSignal
  #current: AbortController | undefined
  #wanted: ReadonlySet<string> = new Set()
  #confirmed: ReadonlySet<string> = new Set()
  /** Resources that the server refused a subscription of. */
  readonly #refused = new Set<string>()
  #settled: Promise<void> = Promise.resolve()

  /** Watches until `stop` aborts. */
  constructor(client: Client, stop: AbortSignal, host: ResourceWatcherHost) {
    this.#client = client
    this.#stop = stop
    this.#host = host
  }

  /** Settles when the server has confirmed or refused everything that was wanted last. Never rejects. */
  get settled(): Promise<void> {
    return this.#settled
  }

  /** Subscribes to these resources, and to no others. */
  watch(uris: Iterable<string>): void {
    if (this.#stop.aborted || this.#client.server.capabilities.resources === undefined) return
    const wanted = new Set(uris)
    for (const uri of this.#refused) {
      // Until it is subscribed anew it is left out, because it would fail the subscription of the others.
      if (!wanted.delete(uri)) this.#refused.delete(uri)
    }
    if (isSame(wanted, this.#wanted)) return
    this.#wanted = wanted
    const before = this.#current
    if (wanted.size === 0) {
      this.#current = undefined
      this.#confirmed = wanted
      before?.abort()
      return
    }
    const current = new AbortController()
    this.#current = current
    const signal = AbortSignal.any([this.#stop, current.signal])
    this.#settled = this.#subscribe([...wanted], signal).then(() => {
      if (this.#wanted === wanted) this.#confirmed = wanted
      // Only now, so that resources in both subscriptions are watched without a gap.
      before?.abort()
    })
  }

  /**
   * Subscribes to resources. Settles when the server has confirmed or refused each of them. A server that
   * refuses one of them refuses all that are requested with it, so the halves are requested then, until the
   * refused resource is alone.
   */
  #subscribe(uris: readonly string[], signal: AbortSignal): Promise<void> {
    const changes = this.#client.changes({ resources: uris }, { signal })
    return new Promise(resolve => {
      changes.ready.then(
        () => {
          const added = uris.filter(uri => !this.#confirmed.has(uri))
          if (added.length > 0 && !signal.aborted) this.#host.onSubscribed(added)
          resolve()
        },
        () => {},
      )
      const onEnded = async (isRefused: boolean): Promise<void> => {
        if (isRefused && !signal.aborted) await this.#split(uris, signal)
        resolve()
      }
      void this.#follow(changes, uris).then(onEnded)
    })
  }

  async #split(uris: readonly string[], signal: AbortSignal): Promise<void> {
    const [first] = uris
    if (uris.length === 1 && first !== undefined) {
      this.#refused.add(first)
      return
    }
    const middle = uris.length >> 1
    const halves = [uris.slice(0, middle), uris.slice(middle)]
    await Promise.all(halves.map(half => this.#subscribe(half, signal)))
  }

  /** Handles changes until the subscription ends; returns whether the server refused it. */
  async #follow(changes: Changes, uris: readonly string[]): Promise<boolean> {
    try {
      for await (const change of changes) {
        if (change.type === 'resource') this.#host.onUpdated(change.uri)
        else this.#host.onSubscribed(uris)
      }
    } catch (error) {
      // After any other failure the next connection subscribes to everything again.
      return error instanceof RpcError
    }
    return false
  }
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false
  for (const one of a) if (!b.has(one)) return false
  return true
}
