import type { Principal } from '../../../jsonrpc/channel.ts'
import { RawRequest } from '../../../jsonrpc/codec/raw-json.ts'
import {
  type Batch,
  type Entry,
  type Id,
  isList,
  type Message,
  type RpcNotification,
  type RpcRequest,
} from '../../../jsonrpc/message.ts'
import { IdTable } from '../../../jsonrpc/peer/id-table.ts'
import type { Authenticator } from '../../../mcp/authenticator.ts'
import { isRecord } from '../../../util/objects.ts'
import type { HttpReply, ReplyHeaders } from '../../exchange.ts'
import type { Accepts } from '../accept.ts'
import { deniedBy, json } from '../responses.ts'
import type { ResumableStream } from './resumable-stream.ts'

/** A request as its client identifies it. */
interface OriginalRequest {
  readonly id: Id | null
  readonly method: string
}

/**
 * One POST of a session and its response: JSON, or, when other messages precede the reply, an event
 * stream that ends with it.
 *
 * Requests are passed on under internal ids, the keys, and their replies get back the original ids,
 * because many clients give every request the id 1.
 */
export class Post {
  readonly key: number
  readonly #reply: HttpReply
  readonly #accepts: Accepts
  readonly #openStream: (post: Post) => ResumableStream
  /** The requests by their keys. A single request has the key of its POST. */
  #only: OriginalRequest | undefined
  #batch: Map<number, OriginalRequest> | undefined
  /** Whether nothing may precede the reply. */
  readonly #suppressesEvents: boolean
  #stream: ResumableStream | undefined
  #isRefused = false

  constructor(
    key: number,
    reply: HttpReply,
    accepts: Accepts,
    openStream: (post: Post) => ResumableStream,
    options: { readonly suppressEvents?: boolean } = {},
  ) {
    this.key = key
    this.#reply = reply
    this.#accepts = accepts
    this.#openStream = openStream
    this.#suppressesEvents = options.suppressEvents ?? false
  }

  /** Whether the POST was rejected. */
  get isRefused(): boolean {
    return this.#isRefused
  }

  /** Number of requests that still need a reply. */
  get size(): number {
    return (this.#only === undefined ? 0 : 1) + (this.#batch?.size ?? 0)
  }

  /** Returns the only request of the POST, with its key as id. */
  forward(request: RpcRequest): RpcRequest {
    this.#only = request
    const { method, raw } = request
    if (raw !== undefined) return new RawRequest(this.key, method, raw)
    return { type: 'request', id: this.key, method, params: request.params }
  }

  /** Returns the batch with a key as id for every entry that gets a reply. */
  forwardBatch({ entries }: Batch, nextKey: () => number): Batch {
    const requests = new Map<number, OriginalRequest>()
    this.#batch = requests
    const taken = entries.map((entry): Entry => {
      const isAnswered = entry.type === 'request' || (entry.type === 'invalid' && !entry.reply)
      if (!isAnswered) return entry
      const key = nextKey()
      requests.set(key, { id: entry.id, method: entry.type === 'request' ? entry.method : '' })
      return { ...entry, id: key }
    })
    return { type: 'batch', entries: taken }
  }

  /** Returns the ids of the requests that need a reply, as their client wrote them in JSON. */
  requestIds(): string[] {
    const requests = this.#only === undefined ? [] : [this.#only]
    return [...requests, ...(this.#batch?.values() ?? [])].flatMap(({ id }) =>
      id === null ? [] : typeof id === 'string' ? JSON.stringify(id) : `${id}`,
    )
  }

  /** Returns the key of the latest request with this id that can be cancelled. */
  keyOf(id: Id): number | undefined {
    let found = this.#only && isCancelled(this.#only, id) ? this.key : undefined
    for (const [key, requests] of this.#batch ?? none) if (isCancelled(requests, id)) found = key
    return found
  }

  /** Drops a request that gets no reply. Returns whether no request is left. */
  forget(key: number): boolean {
    if (key === this.key) this.#only = undefined
    else this.#batch?.delete(key)
    return this.size === 0
  }

  /** Returns a reply with the original id of its request. */
  withOriginalId(reply: Message): Message {
    if (reply.type !== 'result' && reply.type !== 'error') return reply
    // The check: requests are passed on with numbers as ids, and a reply has the id of its request.
    const key = reply.id as number | null
    const requests =
      key === this.key ? this.#only : key === null ? undefined : this.#batch?.get(key)
    if (requests === undefined) return reply
    return reply.type === 'result'
      ? { type: 'result', id: requests.id, result: reply.result }
      : { type: 'error', id: requests.id, error: reply.error }
  }

  /** Whether messages can be sent ahead of the reply. */
  get canSendEvents(): boolean {
    if (this.#stream !== undefined) return true
    return this.#accepts.events && !this.#suppressesEvents && !this.#reply.isFinished
  }

  sendEvent(data: string): void | Promise<void> {
    return this.#events().write(data)
  }

  /**
   * Sends the reply. A client that has disconnected gets it when it resumes the stream, where it can.
   */
  respond(data: string, status = 200, headers?: ReplyHeaders): void | Promise<void> {
    this.#isRefused = status !== 200
    if (this.#stream === undefined) {
      if (this.#reply.isFinished) return
      if (this.#accepts.json || status !== 200) {
        this.#reply.send(status, headers === undefined ? json : { ...json, ...headers }, data)
        return
      }
    }
    return this.#events(headers).finish(data)
  }

  /**
   * Sends a reply, which is encoded as `data`, with the status that its error has in HTTP: a caller that lacks scopes gets
   * a challenge.
   */
  respondWith(
    reply: Message | readonly Message[],
    data: string,
    auth: Authenticator | undefined,
    principal: Principal | undefined,
  ): void | Promise<void> {
    if (isList(reply) || reply.type !== 'error') return this.respond(data)
    const denied = deniedBy(auth, reply.error, principal)
    if (denied !== undefined) return this.respond(data, denied.status, denied.headers)
    // Only a message that was rejected as a whole gets a reply without an id.
    return this.respond(data, reply.id === null ? 400 : 200)
  }

  /** Responds 202, because the POST contains nothing that needs a reply. */
  accept(): void {
    if (!this.#reply.isFinished) this.#reply.send(202, {})
  }

  /** Ends the response without a reply, because the request was cancelled. */
  abandon(): void {
    if (this.#stream !== undefined) this.#stream.end()
    else if (this.#reply.isFinished) return
    // The stream ends before the reply. A client that accepts no events gets a response that cannot
    // be mistaken for a reply.
    else if (this.#accepts.events) this.#reply.stream({}).end()
    else this.#reply.send(202, {})
  }

  /**
   * Closes the connection and asks the client to reconnect for the reply. Returns false if it cannot.
   */
  poll(retryMs: number): boolean {
    return this.canSendEvents && this.#events().poll(retryMs)
  }

  #events(headers?: ReplyHeaders): ResumableStream {
    if (this.#stream === undefined) {
      this.#stream = this.#openStream(this)
      this.#stream.connect(this.#reply, headers)
    }
    return this.#stream
  }
}

const none: ReadonlyMap<number, OriginalRequest> = new Map()

function isCancelled(requests: OriginalRequest, id: Id): boolean {
  return requests.id === id && requests.method !== 'initialize'
}

/** A request that is being cancelled, and the POST it arrived in. */
export interface CancelledRequest {
  readonly post: Post
  readonly key: number
}

/** The POSTs of one session whose replies are pending, by their keys. */
export class Posts {
  #posts = new IdTable<Post>()
  #lastKey = 0

  get size(): number {
    return this.#posts.size
  }

  /** Returns a key that has never been used in this session. */
  readonly nextKey = (): number => {
    this.#lastKey++
    return this.#lastKey
  }

  /** Leaves out the keys up to this one, which another process has used. */
  skipKeys(upTo: number): void {
    this.#lastKey = Math.max(this.#lastKey, upTo)
  }

  add(post: Post): void {
    this.#posts.set(post.key, post)
  }

  /** Returns the POST with this key while its reply is pending. */
  find(key: Id): Post | undefined {
    return typeof key === 'number' ? this.#posts.get(key) : undefined
  }

  /** Removes a POST. Returns whether its reply was pending. */
  delete(post: Post): boolean {
    return this.#posts.delete(post.key)
  }

  /**
   * Returns a notification with internal ids; undefined for one that cancels a request that is not in
   * flight, whose id would be that of another request internally. The request that it cancels is added
   * to `cancelled`, for `abandonCancelled` to end after the notification has been delivered.
   */
  rewriteNotification(
    message: RpcNotification,
    cancelled: CancelledRequest[],
  ): RpcNotification | undefined {
    const { method, params } = message
    if (method !== 'notifications/cancelled') return message
    if (!isRecord(params) || !isId(params.requestId)) return undefined
    const found = this.#newest(params.requestId)
    if (found === undefined) return undefined
    cancelled.push(found)
    return { type: 'notification', method, params: { ...params, requestId: found.key } }
  }

  /** Ends the POSTs that have no pending request left. A cancelled request gets no reply. */
  abandonCancelled(cancelled: readonly CancelledRequest[]): void {
    for (const { post, key } of cancelled) {
      if (!this.#posts.has(post.key) || !post.forget(key)) continue
      this.#posts.delete(post.key)
      post.abandon()
    }
  }

  /** Ends all POSTs. */
  clear(): void {
    for (const post of this.#posts.values()) post.abandon()
    this.#posts = new IdTable()
  }

  #newest(id: Id): CancelledRequest | undefined {
    let found: CancelledRequest | undefined
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
