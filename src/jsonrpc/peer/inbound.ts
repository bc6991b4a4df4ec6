import { fromThenable } from '../../util/promises.ts'
import type { RequestBudget } from '../../util/sockets/request-budget.ts'
import type { Envelope } from '../channel.ts'
import { internalError, RpcError } from '../error.ts'
import type { Handler } from '../handler.ts'
import type { ErrorObject, Id, Message, RpcNotification, RpcRequest } from '../message.ts'
import { requestCost } from '../request-cost.ts'
import { PeerExchange, type Reply, type ReplyPath } from './exchange.ts'
import { IdTable } from './id-table.ts'

/** The parts and limits of the incoming half of a peer. */
export interface InboundOptions {
  readonly handler: Handler
  readonly path: ReplyPath
  readonly maxInFlight: number
  readonly maxQueued: number
  /** Has the memory that requests in flight may take, possibly only from its first request on. */
  readonly channel: { readonly requestBudget?: RequestBudget | undefined }
  /** Whether replies cannot be sent at the moment: then no further handler is started. */
  readonly isCongested: () => boolean
  /** Receives exceptions of handlers that are not sent to the peer. Must not throw. */
  readonly onError: (error: unknown, message: RpcRequest | RpcNotification) => void
  /** Makes the error object that is sent for an error. */
  readonly toWire: (error: RpcError) => ErrorObject
  /** The response to a request beyond `maxQueued` or the budget. */
  readonly busy: ErrorObject
  /** Called when a request has settled or a queued one has started. */
  readonly onChange: () => void
}

type Request = PeerExchange<RpcRequest>

/**
 * The incoming half of a peer: handles up to `maxInFlight` requests at a time, queues `maxQueued` in
 * order, rejects the rest, and makes sure that each is answered exactly once or, when cancelled, not at
 * all.
 */
export class Inbound {
  readonly #options: InboundOptions
  /** By the id of the peer, which must be unique among its requests in flight. */
  readonly #byId = new IdTable<Request>()
  /** Requests with the id null. Created with the first one, because they are rare. */
  #withoutId: Set<Request> | undefined
  /**
   * The request whose handler is on the stack. Most are answered when it returns and need no table
   * entry.
   */
  #calling: Request | undefined
  readonly #queue: Request[] = []
  /** Notifications whose handlers have not finished. */
  readonly #notifications = new Set<PeerExchange<RpcNotification>>()
  /** The number of handlers that have not finished, and of those whose request was cancelled. */
  #running = 0
  #cancelled = 0

  constructor(options: InboundOptions) {
    this.#options = options
  }

  /** The number of requests that have not been answered. */
  get size(): number {
    const tracked = this.#byId.size + (this.#withoutId?.size ?? 0)
    return this.#calling === undefined ? tracked : tracked + 1
  }

  /**
   * Whether so many requests are queued that reading should pause. Leaves room for input that was read
   * already.
   */
  get isOverloaded(): boolean {
    const { maxQueued, maxInFlight } = this.#options
    return this.#queue.length * 2 >= maxQueued || this.#notifications.size >= maxInFlight
  }

  /** Whether a request with this id has not been answered. */
  isInFlight(id: Id): boolean {
    return this.#find(id) !== undefined
  }

  /** Handles a request, queues it, or rejects it as busy. */
  request(message: RpcRequest, envelope: Envelope, reply: Reply, bytes?: number): void {
    const { channel, path, maxQueued, busy } = this.#options
    const budget = channel.requestBudget
    const hasCapacity = this.#hasCapacity()
    const request = new PeerExchange(message, envelope, path, reply)
    const isRefused =
      (!hasCapacity && this.#queue.length >= maxQueued) ||
      (budget !== undefined && !budget.take(request, requestCost(message, bytes)))
    if (isRefused) {
      reply({ type: 'error', id: message.id, error: busy }, envelope)
    } else if (hasCapacity) {
      this.#start(request)
    } else {
      this.#track(request)
      this.#queue.push(request)
    }
  }

  /** Handles a notification immediately: queued requests must not delay it. */
  notification(message: RpcNotification, envelope: Envelope): void {
    const exchange = new PeerExchange(message, envelope, this.#options.path, noReply)
    try {
      const outcome = fromThenable(this.#options.handler(message, exchange))
      if (!(outcome instanceof Promise)) return
      this.#notifications.add(exchange)
      const finish = (): void => {
        this.#notifications.delete(exchange)
        this.#options.onChange()
      }
      outcome.then(finish, error => {
        if (!exchange.settled) this.#options.onError(error, message)
        finish()
      })
    } catch (error) {
      this.#options.onError(error, message)
    }
  }

  /** Starts queued requests while there is capacity. */
  proceed(): void {
    while (this.#queue.length > 0 && this.#hasCapacity()) {
      const next = this.#queue.shift()
      if (next !== undefined && !next.settled) this.#run(next)
    }
    this.#options.onChange()
  }

  /**
   * Aborts the request with this id, answers it with `error` or not at all, and frees the id at once;
   * the result of its handler is dropped. Returns false if there is none, or if its method is `except`.
   */
  cancel(id: Id, reason: unknown, error?: ErrorObject, except?: string): boolean {
    const request = this.#find(id)
    if (request === undefined || request.message.method === except) return false
    this.#cancel(request, reason, error)
    return true
  }

  /** Cancels every request and notification in progress. */
  cancelAll(reason: unknown, error?: ErrorObject): void {
    for (const request of [...this.#byId.values(), ...(this.#withoutId ?? [])]) {
      this.#cancel(request, reason, error)
    }
    if (this.#calling !== undefined) this.#cancel(this.#calling, reason, error)
    for (const notification of this.#notifications) {
      notification.settled = true
      notification.abort(reason)
    }
  }

  /**
   * A cancelled request frees its slot before its handler has stopped, because a handler that ignores
   * its signal would keep the slot forever. At most `maxInFlight` slots are freed that way, because
   * otherwise a peer could run any number of handlers by cancelling.
   */
  #hasCapacity(): boolean {
    const { maxInFlight, isCongested } = this.#options
    const freed = Math.min(this.#cancelled, maxInFlight)
    return this.#running - freed < maxInFlight && !isCongested()
  }

  #find(id: Id): Request | undefined {
    const found = this.#byId.get(id)
    if (found !== undefined) return found
    return this.#calling?.message.id === id ? this.#calling : undefined
  }

  #track(request: Request): void {
    const { id } = request.message
    if (id === null) {
      this.#withoutId ??= new Set()
      this.#withoutId.add(request)
    } else this.#byId.set(id, request)
  }

  #start(request: Request): void {
    // A channel that delivers inside `send` can bring a request while the handler of another is on the
    // stack.
    if (this.#calling === undefined) this.#calling = request
    else this.#track(request)
    this.#run(request)
  }

  #run(request: Request): void {
    this.#running++
    let outcome: unknown
    try {
      outcome = fromThenable(this.#options.handler(request.message, request))
    } catch (error) {
      this.#finish(request, this.#failure(request, error))
      return
    }
    if (outcome instanceof Promise && this.#calling === request) {
      this.#calling = undefined
      this.#track(request)
    }
    if (outcome instanceof Promise) {
      outcome.then(
        result => this.#finish(request, resultOf(request, result)),
        error => this.#finish(request, this.#failure(request, error)),
      )
    } else {
      this.#finish(request, resultOf(request, outcome))
    }
  }

  #finish(request: Request, reply: Message): void {
    this.#running--
    this.#options.channel.requestBudget?.release(request)
    if (request.settled) this.#cancelled--
    this.#settle(request, reply)
    if (this.#queue.length > 0) this.proceed()
  }

  #cancel(request: Request, reason: unknown, error: ErrorObject | undefined): void {
    const isWaiting = this.#queue.includes(request)
    const budget = this.#options.channel.requestBudget
    if (isWaiting) budget?.release(request)
    else if (!request.settled) {
      this.#cancelled++
      budget?.abandon(request)
    }
    this.#settle(request, error && { type: 'error', id: request.message.id, error })
    request.abort(reason)
    if (this.#queue.length > 0) this.proceed()
  }

  #settle(request: Request, reply: Message | undefined): void {
    if (request.settled) return
    const { id } = request.message
    if (this.#calling === request) this.#calling = undefined
    else if (id === null) this.#withoutId?.delete(request)
    else this.#byId.delete(id)
    request.settle(reply)
    this.#options.onChange()
  }

  #failure(request: Request, error: unknown): Message {
    const { id } = request.message
    if (isRpcError(error)) return { type: 'error', id, error: this.#options.toWire(error) }
    // An exception that a cancelled handler throws is not a failure.
    if (!request.settled) this.#options.onError(error, request.message)
    // Internal errors are not sent to the peer.
    return { type: 'error', id, error: this.#options.toWire(internalError()) }
  }
}

function noReply(): void {}

function resultOf(request: Request, result: unknown): Message {
  // Encoding turns undefined into null; in-process channels must behave the same.
  return { type: 'result', id: request.message.id, result: result === undefined ? null : result }
}

function isRpcError(error: unknown): error is RpcError {
  try {
    return error instanceof RpcError
  } catch {
    // A user's Proxy can throw in `instanceof`.
    return false
  }
}
