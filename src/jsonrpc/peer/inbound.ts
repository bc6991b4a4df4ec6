import { promised } from '../../util/promised.ts'
import type { Envelope } from '../channel.ts'
import { internalError, RpcError } from '../error.ts'
import type { Handler } from '../handler.ts'
import type { ErrorObject, Id, Message, RpcNotification, RpcRequest } from '../message.ts'
import { Answering, type Reply, type WayBack } from './exchange.ts'
import { IdTable } from './id-table.ts'

export interface InboundOptions {
  readonly handler: Handler
  readonly way: WayBack
  readonly maxInFlight: number
  readonly maxQueued: number
  /** Whether replies cannot leave at the moment: then nothing new is begun. */
  readonly isCongested: () => boolean
  /** Told what a handler threw that the sender is not told. Must not throw. */
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
  readonly #byId = new IdTable<Request>()
  /** Absent before the first, which hardly any sender has. */
  #nameless: Set<Request> | undefined
  /** The one whose handler was called and has not returned: most are answered then, and never kept. */
  #calling: Request | undefined
  readonly #queue: Request[] = []
  /** Notifications whose handlers have not finished. */
  readonly #notes = new Set<Answering<RpcNotification>>()
  /** Handlers that have not finished, and those of them whose request was cancelled. */
  #running = 0
  #cancelled = 0

  constructor(options: InboundOptions) {
    this.#options = options
  }

  /** Requests that want an answer and have none yet. */
  get size(): number {
    const kept = this.#byId.size + (this.#nameless?.size ?? 0)
    return this.#calling === undefined ? kept : kept + 1
  }

  /** Whether so much is waiting that no more should be read. Leaves room for what was read already. */
  get isCrowded(): boolean {
    const { maxQueued, maxInFlight } = this.#options
    return this.#queue.length * 2 >= maxQueued || this.#notes.size >= maxInFlight
  }

  isInFlight(id: Id): boolean {
    return this.#find(id) !== undefined
  }

  request(message: RpcRequest, envelope: Envelope, reply: Reply): void {
    if (this.#hasRoom()) {
      this.#begin(new Answering(message, envelope, this.#options.way, reply))
    } else if (this.#queue.length < this.#options.maxQueued) {
      const request = new Answering(message, envelope, this.#options.way, reply)
      this.#keep(request)
      this.#queue.push(request)
    } else {
      reply({ type: 'error', id: message.id, error: this.#options.busy }, envelope)
    }
  }

  /** Runs at once, whatever waits: requests in the queue must not keep it from being heard. */
  notification(message: RpcNotification, envelope: Envelope): void {
    const note = new Answering(message, envelope, this.#options.way, noReply)
    try {
      const outcome = promised(this.#options.handler(message, note))
      if (!(outcome instanceof Promise)) return
      this.#notes.add(note)
      const over = (): void => {
        this.#notes.delete(note)
        this.#options.onMoved()
      }
      outcome.then(over, error => {
        if (!note.settled) this.#options.onError(error, message)
        over()
      })
    } catch (error) {
      this.#options.onError(error, message)
    }
  }

  /** Begins what waits, as far as there is room. */
  proceed(): void {
    while (this.#queue.length > 0 && this.#hasRoom()) {
      const next = this.#queue.shift()
      if (next !== undefined && !next.settled) this.#run(next)
    }
    this.#options.onMoved()
  }

  /**
   * Aborts the request with this id, answers it with `error` or not at all, and frees the id at once;
   * whatever the handler still returns is dropped. Returns whether there was one, of another method
   * than `except`.
   */
  cancel(id: Id, reason: unknown, error?: ErrorObject, except?: string): boolean {
    const answering = this.#find(id)
    if (answering === undefined || answering.message.method === except) return false
    this.#cut(answering, reason, error)
    return true
  }

  /** The same for all of them. */
  cancelAll(reason: unknown, error?: ErrorObject): void {
    for (const answering of [...this.#byId.values(), ...(this.#nameless ?? [])]) {
      this.#cut(answering, reason, error)
    }
    if (this.#calling !== undefined) this.#cut(this.#calling, reason, error)
    for (const note of this.#notes) {
      note.settled = true
      note.abort(reason)
    }
  }

  /**
   * A cancelled request gives its place back before its handler has stopped, or one that does not
   * heed its signal would keep it for ever; but no more than as many again, or cancelling would be a
   * way to run any number.
   */
  #hasRoom(): boolean {
    const { maxInFlight, isCongested } = this.#options
    const spared = Math.min(this.#cancelled, maxInFlight)
    return this.#running - spared < maxInFlight && !isCongested()
  }

  #find(id: Id): Request | undefined {
    const kept = this.#byId.get(id)
    if (kept !== undefined) return kept
    return this.#calling?.message.id === id ? this.#calling : undefined
  }

  #keep(request: Request): void {
    const { id } = request.message
    if (id === null) {
      this.#nameless ??= new Set()
      this.#nameless.add(request)
    } else this.#byId.set(id, request)
  }

  #begin(request: Request): void {
    // A channel that delivers inside `send` may bring one while the handler of another is being called.
    if (this.#calling === undefined) this.#calling = request
    else this.#keep(request)
    this.#run(request)
  }

  #run(request: Request): void {
    this.#running++
    let outcome: unknown
    try {
      outcome = promised(this.#options.handler(request.message, request))
    } catch (error) {
      this.#finish(request, this.#failure(request, error))
      return
    }
    if (outcome instanceof Promise && this.#calling === request) {
      this.#calling = undefined
      this.#keep(request)
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
    if (request.settled) this.#cancelled--
    this.#settle(request, reply)
    if (this.#queue.length > 0) this.proceed()
  }

  #cut(request: Request, reason: unknown, error: ErrorObject | undefined): void {
    const isWaiting = this.#queue.includes(request)
    if (!isWaiting && !request.settled) this.#cancelled++
    this.#settle(request, error && { type: 'error', id: request.message.id, error })
    request.abort(reason)
    if (this.#queue.length > 0) this.proceed()
  }

  #settle(request: Request, reply: Message | undefined): void {
    if (request.settled) return
    const { id } = request.message
    if (this.#calling === request) this.#calling = undefined
    else if (id === null) this.#nameless?.delete(request)
    else this.#byId.delete(id)
    request.settle(reply)
    this.#options.onMoved()
  }

  #failure(request: Request, error: unknown): Message {
    const { id } = request.message
    if (isRpcError(error)) return { type: 'error', id, error: this.#options.toWire(error) }
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

function isRpcError(error: unknown): error is RpcError {
  try {
    return error instanceof RpcError
  } catch {
    // Somebody's proxy that does not like to be asked.
    return false
  }
}
