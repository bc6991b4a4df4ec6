import { WrittenRequest } from '../../../jsonrpc/codec/raw-json.ts'
import type { Batch, Entry, Id, Message, RpcRequest } from '../../../jsonrpc/message.ts'
import type { HttpReply, ReplyHeaders } from '../../exchange.ts'
import type { Accepts } from '../accept.ts'
import { json } from '../responses.ts'
import type { Outlet } from './resumable-stream.ts'

/** What the client of a request calls it. */
interface Asked {
  readonly id: Id | null
  readonly method: string
}

/**
 * One POST of a session and its answer: JSON, or, when something must be told first, an event stream
 * that ends with it.
 *
 * Its requests go inside under numbers of our own, and their replies leave under the ids they came
 * with: many a client calls every request 1.
 */
export class Post {
  readonly key: number
  readonly #reply: HttpReply
  readonly #accepts: Accepts
  readonly #openOutlet: (key: number) => Outlet
  /** By the numbers that stand for them; a request that comes alone has the number of the POST. */
  #only: Asked | undefined
  #asked: Map<number, Asked> | undefined
  /** Whether nothing may go ahead of the answer. */
  readonly #isQuiet: boolean
  #outlet: Outlet | undefined
  #isRefused = false

  constructor(
    key: number,
    reply: HttpReply,
    accepts: Accepts,
    openOutlet: (key: number) => Outlet,
    options: { readonly quiet?: boolean } = {},
  ) {
    this.key = key
    this.#reply = reply
    this.#accepts = accepts
    this.#openOutlet = openOutlet
    this.#isQuiet = options.quiet ?? false
  }

  /** Whether it was answered by saying that it cannot be taken. */
  get isRefused(): boolean {
    return this.#isRefused
  }

  /** How many of its requests want an answer. */
  get size(): number {
    return (this.#only === undefined ? 0 : 1) + (this.#asked?.size ?? 0)
  }

  /** Its only request, as it goes inside. */
  ask(request: RpcRequest): RpcRequest {
    this.#only = request
    const { method, written } = request
    if (written !== undefined) return new WrittenRequest(this.key, method, written)
    return { type: 'request', id: this.key, method, params: request.params }
  }

  /** A batch, as it goes inside: everything in it that is going to be answered has a number. */
  askAll({ entries }: Batch, nextKey: () => number): Batch {
    const asked = new Map<number, Asked>()
    this.#asked = asked
    const taken = entries.map((entry): Entry => {
      const isAnswered = entry.type === 'request' || (entry.type === 'invalid' && !entry.reply)
      if (!isAnswered) return entry
      const key = nextKey()
      asked.set(key, { id: entry.id, method: entry.type === 'request' ? entry.method : '' })
      return { ...entry, id: key }
    })
    return { type: 'batch', entries: taken }
  }

  /** The number of the latest of its requests with this id that can be cancelled. */
  keyOf(id: Id): number | undefined {
    let found = this.#only && isCancelled(this.#only, id) ? this.key : undefined
    for (const [key, asked] of this.#asked ?? none) if (isCancelled(asked, id)) found = key
    return found
  }

  /** One of its requests is not going to be answered. Returns whether none is left. */
  forget(key: number): boolean {
    if (key === this.key) this.#only = undefined
    else this.#asked?.delete(key)
    return this.size === 0
  }

  /** A reply, under the id its request came with. */
  original(reply: Message): Message {
    if (reply.type !== 'result' && reply.type !== 'error') return reply
    // The check: what came in has numbers of ours, and a reply has the id of what came in.
    const key = reply.id as number | null
    const asked = key === this.key ? this.#only : key === null ? undefined : this.#asked?.get(key)
    if (asked === undefined) return reply
    return reply.type === 'result'
      ? { type: 'result', id: asked.id, result: reply.result }
      : { type: 'error', id: asked.id, error: reply.error }
  }

  /** Whether something can be told ahead of the answer. */
  get canTell(): boolean {
    if (this.#outlet !== undefined) return true
    return this.#accepts.events && !this.#isQuiet && !this.#reply.isOver
  }

  tell(data: string): void | Promise<void> {
    return this.#events().write(data)
  }

  /** Answers it. A client that is gone gets it when it comes back, if it knows how to. */
  answer(data: string, status = 200, headers?: ReplyHeaders): void | Promise<void> {
    this.#isRefused = status !== 200
    if (this.#outlet === undefined) {
      if (this.#reply.isOver) return
      if (this.#accepts.json || status !== 200) {
        this.#reply.send(status, headers === undefined ? json : { ...json, ...headers }, data)
        return
      }
    }
    const outlet = this.#events(headers)
    const wait = outlet.write(data)
    outlet.end()
    return wait
  }

  /** There was nothing in it to answer. */
  accept(): void {
    if (!this.#reply.isOver) this.#reply.send(202, {})
  }

  /** Ends it without an answer, because it has been cancelled. */
  abandon(): void {
    if (this.#outlet !== undefined) this.#outlet.end()
    else if (this.#reply.isOver) return
    // A stream that ends before the reply; for whoever takes none, at least nothing that looks like one.
    else if (this.#accepts.events) this.#reply.stream({}).end()
    else this.#reply.send(202, {})
  }

  /** Closes the connection and lets the client come back for the answer; false if it cannot. */
  poll(retryMs: number): boolean {
    return this.canTell && this.#events().poll(retryMs)
  }

  #events(headers?: ReplyHeaders): Outlet {
    if (this.#outlet === undefined) {
      this.#outlet = this.#openOutlet(this.key)
      this.#outlet.connect(this.#reply, headers)
    }
    return this.#outlet
  }
}

const none: ReadonlyMap<number, Asked> = new Map()

function isCancelled(asked: Asked, id: Id): boolean {
  return asked.id === id && asked.method !== 'initialize'
}
