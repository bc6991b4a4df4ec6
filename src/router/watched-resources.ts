import { limits } from '../util/limits/limits.ts'
import type { Clock } from '../util/time/clock.ts'
import { sleep } from '../util/time/sleep.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { Route } from './dispatch/route.ts'
import { whenListed } from './forward/starting.ts'
import { onlyReader } from './forward/unlisted.ts'
import type { Upstream } from './upstream/upstream.ts'
import type { Endpoints } from './views/endpoints.ts'

/** What {@link WatchedResources} needs from the router. */
export interface WatchedResourcesHost {
  readonly clock: Clock
  readonly endpoints: Pick<Endpoints, 'subscriptions' | 'publishUpdate'>
  catalog(): Catalog
  routes(): readonly Route[]
}

/**
 * The resources that callers are subscribed to: keeps the router subscribed to them at their servers, and
 * has a subscription confirmed to its caller once the server has confirmed it.
 */
export class WatchedResources {
  readonly #host: WatchedResourcesHost
  /** Resources whose subscriptions were confirmed to callers. */
  readonly #confirmed = new Set<string>()
  #updating: Promise<void> | undefined

  constructor(host: WatchedResourcesHost) {
    this.#host = host
    for (const subscriptions of host.endpoints.subscriptions) {
      subscriptions.onWatched = uri => {
        if (!this.#watched().has(uri)) this.#confirmed.delete(uri)
        void this.update()
      }
      subscriptions.whenWatched = uris => this.#whenWatched([...uris])
    }
  }

  /** Updates the subscriptions at the upstream servers, once for all changes of this turn. */
  update(): Promise<void> {
    this.#updating ??= Promise.resolve().then(() => {
      this.#updating = undefined
      for (const { upstream } of this.#host.routes()) upstream.updateSubscriptions()
    })
    return this.#updating
  }

  /** Returns the resources of one server that callers have subscribed to. */
  of(upstream: Upstream): readonly string[] {
    const watched = [...this.#watched()]
    return watched.filter(uri => this.#ownerOf(uri)?.upstream === upstream)
  }

  /**
   * Must be called when a server has confirmed subscriptions. Callers that rely on them may have missed
   * updates.
   */
  onSubscribed(uris: readonly string[]): void {
    for (const uri of uris) {
      if (this.#confirmed.has(uri)) this.#host.endpoints.publishUpdate(uri)
    }
  }

  async #whenWatched(uris: readonly string[]): Promise<void> {
    const limit = sleep(limits.subscribeWaitMs.default, this.#host.clock)
    await Promise.race([this.#whenSubscribed(uris), limit.done])
    limit.wake()
    const watched = this.#watched()
    for (const uri of uris) if (watched.has(uri)) this.#confirmed.add(uri)
  }

  async #whenSubscribed(uris: readonly string[]): Promise<void> {
    if (uris.some(uri => this.#ownerOf(uri) === undefined)) {
      await whenListed(this.#host.routes(), 'resources')
    }
    await this.update()
    const owners = new Set(uris.flatMap(uri => this.#ownerOf(uri)?.upstream ?? []))
    const withinMs = limits.subscribeWaitMs.default
    await Promise.all(Array.from(owners, upstream => upstream.whenSubscribed(withinMs)))
  }

  /** The resources that have subscribers at any endpoint. */
  #watched(): ReadonlySet<string> {
    return new Set(this.#host.endpoints.subscriptions.flatMap(each => [...each.watched()]))
  }

  #ownerOf(uri: string): Route | undefined {
    return this.#host.catalog().ownerOf(uri) ?? onlyReader(this.#host.routes())
  }
}
