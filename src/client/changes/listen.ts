import type { Envelope } from '../../jsonrpc/channel.ts'
import type { Id } from '../../jsonrpc/message.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { isRecord } from '../../util/record.ts'
import { type ChangeFilter, changeIn, isWanted, readFilter } from './changes.ts'
import { Subscribed } from './session-subscriptions.ts'
import { type Changes, Listening, type ListeningHost } from './subscription.ts'

/** What listening needs from its client. */
export interface ListenHost
  extends Pick<ListeningHost, 'settings' | 'opened' | 'begin' | 'isClosed'> {
  /** Makes a request of a session. */
  request(method: string, params: object): Promise<unknown>
}

/** All streams of changes of one client, and the way of each change to those who want it. */
export class Listens {
  readonly #listenings = new Set<Listening>()
  /** By the id of their listen request, whose type counts: 1 and '1' are two. */
  readonly #byId = new Map<unknown, Listening>()
  readonly #subscribed: Subscribed
  readonly #host: ListeningHost

  constructor(host: ListenHost) {
    this.#subscribed = new Subscribed((method, uri) => host.request(method, { uri }))
    this.#host = {
      settings: host.settings,
      subscribed: this.#subscribed,
      opened: () => host.opened(),
      isClosed: () => host.isClosed(),
      begin: (opened, method, params, options) => host.begin(opened, method, params, options),
      claim: (id, listening) => this.#claim(id, listening),
      onLeft: listening => void this.#listenings.delete(listening),
    }
  }

  get size(): number {
    return this.#listenings.size
  }

  /** Begins to listen at once, whether or not anybody reads yet. */
  changes(filter: ChangeFilter, signal?: AbortSignal): Changes {
    const listening = new Listening(this.#host, filter, signal)
    if (!listening.isOver) {
      this.#listenings.add(listening)
      void listening.attach()
    }
    return listening
  }

  /** Passes a notification on to the streams it is meant for. */
  onNotification(method: string, params: unknown, envelope: Envelope): void {
    const meta = isRecord(params) && isRecord(params._meta) ? params._meta : {}
    const tag = meta[metaKeys.subscriptionId]
    // Where each request has a stream of its own, the stream tells the same as the tag.
    const tagged = this.#byId.get(tag ?? envelope.about)
    if (method === 'notifications/subscriptions/acknowledged') {
      tagged?.onAcknowledged(readFilter(isRecord(params) ? params.notifications : undefined))
      return
    }
    const change = changeIn(method, params)
    if (change === undefined) return
    if (tagged !== undefined) tagged.push(change)
    // Tagged for a stream that has been left, or meant for one that has been found.
    if (tagged !== undefined || tag !== undefined) return
    for (const listening of this.#listenings) {
      if (listening.isUntagged && isWanted(change, listening.filter)) listening.push(change)
    }
  }

  /** The server has cancelled a request: only listen requests may be ended like this. */
  onCancelled(id: unknown): void {
    this.#byId.get(id)?.onEnded()
  }

  /** There is a new connection, which knows nothing of what the last one was told. */
  onReopened(): void {
    this.#subscribed.forget()
    for (const listening of [...this.#listenings]) void listening.attach()
  }

  /** There will be no more: without an error the streams end in good order. */
  onClosed(error?: unknown): void {
    for (const listening of [...this.#listenings]) listening.fail(error)
  }

  #claim(id: Id, listening: Listening | undefined): void {
    if (listening === undefined) this.#byId.delete(id)
    else this.#byId.set(id, listening)
  }
}
