import type { Envelope } from '../../jsonrpc/channel.ts'
import type { Id } from '../../jsonrpc/message.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { isRecord, ownMember } from '../../util/objects.ts'
import { type ChangeFilter, changeIn, isIncluded, readFilter } from './changes.ts'
import { SessionSubscriptions } from './session-subscriptions.ts'
import { ChangeSubscription, type Changes, type SubscriptionHost } from './subscription.ts'

/** What change subscriptions need from their client. */
export interface SubscriptionsHost
  extends Pick<SubscriptionHost, 'settings' | 'opened' | 'begin' | 'isClosed'> {
  /** Sends a request in a session. */
  request(method: string, params: object): Promise<unknown>
}

/** The change subscriptions of one client. Routes each notification to the subscriptions it is for. */
export class ChangeSubscriptions {
  readonly #subscriptions = new Set<ChangeSubscription>()
  /** By the id of the `subscriptions/listen` request. The type of the id matters: 1 and '1' differ. */
  readonly #byId = new Map<unknown, ChangeSubscription>()
  readonly #sessionSubscriptions: SessionSubscriptions
  readonly #host: SubscriptionHost

  constructor(host: SubscriptionsHost) {
    this.#sessionSubscriptions = new SessionSubscriptions((method, uri) =>
      host.request(method, { uri }),
    )
    this.#host = {
      settings: host.settings,
      sessionSubscriptions: this.#sessionSubscriptions,
      opened: () => host.opened(),
      confirm: () =>
        host.request('ping', {}).then(
          () => {},
          () => {},
        ),
      isClosed: () => host.isClosed(),
      begin: (opened, method, params, options) => host.begin(opened, method, params, options),
      claim: (id, subscription) => this.#claim(id, subscription),
      onEnded: subscription => void this.#subscriptions.delete(subscription),
    }
  }

  get size(): number {
    return this.#subscriptions.size
  }

  /** Subscribes at once, even before the changes are read. */
  changes(filter: ChangeFilter, signal?: AbortSignal): Changes {
    const subscription = new ChangeSubscription(this.#host, filter, signal)
    if (!subscription.hasEnded) {
      this.#subscriptions.add(subscription)
      void subscription.attach()
    }
    return subscription
  }

  /** Passes a notification to the subscriptions it is for. */
  onNotification(method: string, params: unknown, envelope: Envelope): void {
    const tag = ownMember(ownMember(params, '_meta'), metaKeys.subscriptionId)
    // Where each request has a stream of its own, the stream identifies the subscription as the tag does.
    const tagged = this.#byId.get(tag ?? envelope.about)
    if (method === 'notifications/subscriptions/acknowledged') {
      tagged?.onAcknowledged(readFilter(isRecord(params) ? params.notifications : undefined))
      return
    }
    const change = changeIn(method, params)
    if (change === undefined) return
    if (tagged !== undefined) tagged.push(change)
    // Delivered, or tagged for a subscription that has been closed.
    if (tagged !== undefined || tag !== undefined) return
    for (const subscription of this.#subscriptions) {
      if (subscription.isUntagged && isIncluded(change, subscription.filter))
        subscription.push(change)
    }
  }

  /** The server has cancelled a request, which is how it ends a `subscriptions/listen` request. */
  onCancelled(id: unknown): void {
    this.#byId.get(id)?.onEnded()
  }

  /** Subscribes again on a new connection. */
  onReopened(): void {
    this.#sessionSubscriptions.reset()
    for (const subscription of [...this.#subscriptions]) void subscription.attach()
  }

  /** Ends all subscriptions; with an error, their readers get it. */
  onClosed(error?: unknown): void {
    for (const subscription of [...this.#subscriptions]) subscription.fail(error)
  }

  #claim(id: Id, subscription: ChangeSubscription | undefined): void {
    if (subscription === undefined) this.#byId.delete(id)
    else this.#byId.set(id, subscription)
  }
}
