import type { Id, RpcNotification } from '../../../jsonrpc/message.ts'
import { IdTable } from '../../../jsonrpc/peer/id-table.ts'
import { isRecord } from '../../../util/record.ts'
import type { Post } from './post.ts'

/** A request that is being cancelled, and the POST it came with. */
export interface Cancelled {
  readonly post: Post
  readonly key: number
}

/** What is being answered in one session, by the numbers that stand for it inside. */
export class Posts {
  #posts = new IdTable<Post>()
  #lastKey = 0

  get size(): number {
    return this.#posts.size
  }

  /** A number that nothing has had. */
  readonly nextKey = (): number => {
    this.#lastKey++
    return this.#lastKey
  }

  add(post: Post): void {
    this.#posts.set(post.key, post)
  }

  /** The POST that a message belongs to, as long as it is not answered. */
  about(key: Id): Post | undefined {
    return typeof key === 'number' ? this.#posts.get(key) : undefined
  }

  /** Lets go of it; returns whether it was still to be answered. */
  delete(post: Post): boolean {
    return this.#posts.delete(post.key)
  }

  /**
   * A notification as it goes inside, where requests have other ids. One that cancels what is not in
   * flight does not: inside, its id would be that of another request. What it cancels is put into
   * `cancelled`, to be given up when the notification has been heard.
   */
  note(message: RpcNotification, cancelled: Cancelled[]): RpcNotification | undefined {
    const { method, params } = message
    if (method !== 'notifications/cancelled') return message
    if (!isRecord(params) || !isId(params.requestId)) return undefined
    const found = this.#newest(params.requestId)
    if (found === undefined) return undefined
    cancelled.push(found)
    return { type: 'notification', method, params: { ...params, requestId: found.key } }
  }

  /** Ends the POSTs that have nothing left to wait for: what was cancelled is not answered. */
  giveUp(cancelled: readonly Cancelled[]): void {
    for (const { post, key } of cancelled) {
      if (!this.#posts.has(post.key) || !post.forget(key)) continue
      this.#posts.delete(post.key)
      post.abandon()
    }
  }

  /** Ends all of them. */
  clear(): void {
    for (const post of this.#posts.values()) post.abandon()
    this.#posts = new IdTable()
  }

  #newest(id: Id): Cancelled | undefined {
    let found: Cancelled | undefined
    for (const post of this.#posts.values()) {
      const key = post.keyOf(id)
      if (key !== undefined) found = { post, key }
    }
    return found
  }
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
}
