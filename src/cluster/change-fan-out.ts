import type { MessageBus } from '../backplane/message-bus.ts'
import type { Endpoint } from '../mcp/endpoint.ts'
import { listKinds } from '../mcp/list-changes.ts'
import type { ChangeReceiver, ChangeSharing, SharedChange } from '../mcp/shared-changes.ts'
import { isRecord } from '../util/objects.ts'

/**
 * Tells the other nodes of changed lists and resources, and notifies the clients of this node of theirs. All nodes
 * subscribe to changes of lists; to those of a resource only nodes that have a subscriber of it. If messages were
 * lost, everything that clients of this node have subscribed to counts as changed.
 */
export class ChangeFanOut implements ChangeSharing {
  readonly #node: string
  readonly #path: string
  readonly #bus: MessageBus
  readonly #watched = new Map<string, Promise<() => void>>()
  #receiver: ChangeReceiver | undefined
  #isStopped = false
  #stopLists: Promise<() => void> | undefined

  constructor(node: string, path: string, bus: MessageBus) {
    this.#node = node
    this.#path = path
    this.#bus = bus
  }

  /** Begins, where the endpoint has changes of its own. Resolves when no change is missed any more. */
  async start(endpoint: Endpoint): Promise<void> {
    this.#receiver = endpoint.shareChanges?.(this)
    if (this.#receiver === undefined) return
    this.#stopLists = this.#subscribe(this.#listChannel, () => this.#allListsChanged())
    await this.#stopLists
  }

  publish(change: SharedChange): void {
    if (this.#isStopped) return
    const channel = change.type === 'resource' ? this.#channelOf(change.uri) : this.#listChannel
    this.#bus.publish(channel, JSON.stringify({ node: this.#node, change }))
  }

  watch(uri: string, isWatched: boolean): void {
    if (this.#isStopped) return
    const before = this.#watched.get(uri)
    if (isWatched) {
      const gap = (): void => this.#receiver?.deliver({ type: 'resource', uri })
      if (before === undefined) this.#watched.set(uri, this.#subscribe(this.#channelOf(uri), gap))
    } else if (before !== undefined) {
      this.#watched.delete(uri)
      void before.then(stop => stop())
    }
  }

  async whenWatched(uris: Iterable<string>): Promise<void> {
    await Promise.all(Array.from(uris, uri => this.#watched.get(uri)))
  }

  /** Ends all subscriptions. Never rejects. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const all = [this.#stopLists, ...this.#watched.values()]
    this.#watched.clear()
    for (const stop of await Promise.all(all)) stop?.()
  }

  get #listChannel(): string {
    return `lists ${this.#path}`
  }

  /** Channels have a limited length, and URIs have none. */
  #channelOf(uri: string): string {
    return `resource ${this.#path} ${uri.slice(-maxUriLength)}`
  }

  /** Never rejects: while the engine cannot be reached, the subscription is made again, which is a gap. */
  #subscribe(channel: string, gap: () => void): Promise<() => void> {
    const message = (text: string): void => this.#received(text)
    return this.#bus.subscribe(channel, { message, gap }).catch(() => () => {})
  }

  #received(text: string): void {
    const message: unknown = JSON.parse(text)
    if (!isRecord(message) || message.node === this.#node || !isChange(message.change)) return
    this.#receiver?.deliver(message.change)
  }

  #allListsChanged(): void {
    for (const type of this.#receiver?.lists() ?? []) this.#receiver?.deliver({ type })
  }
}

const maxUriLength = 100

function isChange(value: unknown): value is SharedChange {
  if (!isRecord(value)) return false
  if (value.type === 'resource') return typeof value.uri === 'string'
  const { type, principal } = value
  if (principal !== undefined && typeof principal !== 'string') return false
  return listKinds.some(kind => kind === type)
}
