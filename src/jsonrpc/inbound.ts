import { Answering, type Reply, type WayBack } from './answering.ts'
import type { Envelope } from './channel.ts'
import { internalError, RpcError } from './error.ts'
import type { Handler } from './handler.ts'
import type { ErrorObject, Id, Message, RpcNotification, RpcRequest } from './message.ts'

export interface InboundOptions {
  readonly handler: Handler
  readonly way: WayBack
  readonly maxInFlight: number
  readonly maxQueued: number
  /** Told what a handler threw that the sender is not told. */
  readonly onError: (error: unknown, message: RpcRequest | RpcNotification) => void
  /** The error as it goes to the sender. */
  readonly toWire: (error: RpcError) => ErrorObject
  /** What refuses a request when too many wait. */
  readonly busy: ErrorObject
  /** Called whenever a request has been settled or has begun after waiting. */
  readonly onMoved: () => void
}

type Request = Answering<RpcRequest>

/**
 * The requests of the other side: runs so many at once, keeps some waiting in order, refuses the rest,
 * and sees that each is answered exactly once or, when cancelled, not at all.
 */
export class Inbound {
  readonly #options: InboundOptions
  /** By the sender's id, which it must not use twice at a time. */
  readonly #byId = new Map<Id, Request>()
  readonly #nameless = new Set<Request>()
  readonly #queue: Request[] = []
  #running = 0

  constructor(options: InboundOptions) {
    this.#options = options
  }

  /** Requests that want an answer and have none yet. */
  get size(): number {
    return this.#byId.size + this.#nameless.size
  }

  get waiting(): number {
    return this.#queue.length
  }

  isInFlight(id: Id): boolean {
    return this.#byId.has(id)
  }

  request(message: RpcRequest, envelope: Envelope, reply: Reply): void {
    if (this.#running >= this.#options.maxInFlight) {
      if (this.#queue.length >= this.#options.maxQueued) {
        reply({ type: 'error', id: message.id, error: this.#options.busy }, envelope)
        return
      }
      this.#queue.push(this.#enter(message, envelope, reply))
      return
    }
    this.#run(this.#enter(message, envelope, reply))
  }

  /** Runs at once, whatever waits: a notification may be the one that cancels a request. */
  notification(message: RpcNotification, envelope: Envelope): void {
    const answering = new Answering(message, envelope, this.#options.way, noReply)
    try {
      const outcome = this.#options.handler(message, answering)
      if (isThenable(outcome)) {
        outcome.then(undefined, error => this.#options.onError(error, message))
      }
    } catch (error) {
      this.#options.onError(error, message)
    }
  }

  /**
   * Aborts the request with this id, answers it with `error` or not at all, and frees the id at once;
   * whatever the handler still returns is dropped. Returns whether there was one.
   */
  cancel(id: Id, reason: unknown, error?: ErrorObject): boolean {
    const answering = this.#byId.get(id)
    if (answering === undefined) return false
    this.#cut(answering, reason, error)
    return true
  }

  /** The same for all of them. */
  cancelAll(reason: unknown, error?: ErrorObject): void {
    for (const answering of [...this.#byId.values(), ...this.#nameless]) {
      this.#cut(answering, reason, error)
    }
  }

  #enter(message: RpcRequest, envelope: Envelope, reply: Reply): Request {
    const request: Request = new Answering(message, envelope, this.#options.way, reply)
    if (message.id === null) this.#nameless.add(request)
    else this.#byId.set(message.id, request)
    return request
  }

  #run(request: Request): void {
    this.#running++
    let outcome: unknown
    try {
      outcome = this.#options.handler(request.message, request)
    } catch (error) {
      this.#finish(request, this.#failure(request, error))
      return
    }
    if (isThenable(outcome)) {
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
    this.#settle(request, reply)
    if (this.#queue.length > 0) this.#runNext()
  }

  #cut(request: Request, reason: unknown, error: ErrorObject | undefined): void {
    this.#settle(request, error && { type: 'error', id: request.message.id, error })
    request.abort(reason)
  }

  #settle(request: Request, reply: Message | undefined): void {
    if (request.settled) return
    request.settled = true
    const { id } = request.message
    if (id === null) this.#nameless.delete(request)
    else this.#byId.delete(id)
    request.reply(reply, request.envelope)
    this.#options.onMoved()
  }

  #runNext(): void {
    while (this.#running < this.#options.maxInFlight) {
      const next = this.#queue.shift()
      if (next === undefined) break
      if (!next.settled) this.#run(next)
    }
    this.#options.onMoved()
  }

  #failure(request: Request, error: unknown): Message {
    const { id } = request.message
    if (error instanceof RpcError) return { type: 'error', id, error: this.#options.toWire(error) }
    // A handler that gives up because it was told to has nothing to report.
    if (!request.settled) this.#options.onError(error, request.message)
    // What went wrong inside is nobody's business outside.
    return { type: 'error', id, error: this.#options.toWire(internalError()) }
  }
}

function noReply(): void {}

function resultOf(request: Request, result: unknown): Message {
  // On a wire nothing becomes null; without one it must be the same.
  return { type: 'result', id: request.message.id, result: result === undefined ? null : result }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}
