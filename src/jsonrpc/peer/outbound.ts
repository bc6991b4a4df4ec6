import { limits } from '../../util/limits/limits.ts'
import { type Deadlines, systemDeadlines } from '../../util/time/deadline.ts'
import { type Channel, ChannelError, type Envelope } from '../channel.ts'
import { type RpcError, rpcError } from '../error.ts'
import type { CallOptions } from '../handler.ts'
import type {
  ErrorObject,
  Id,
  Malformed,
  Params,
  RpcFailure,
  RpcNotification,
  RpcRequest,
  RpcResult,
} from '../message.ts'
import { IdCounter, type IdLevel } from './id-counter.ts'
import { AbortListeners, Call, Pending, type ReplyHandler, type StrayReason } from './pending.ts'
import type { SendHandler, SendQueue } from './send-queue.ts'

/** Options for the outgoing calls of a peer. */
export interface OutboundOptions {
  /** The default timeout of a call in milliseconds; 0 disables it. */
  readonly timeoutMs?: number
  /** Maximum number of calls that wait for their reply; 65,536 by default. A further call rejects. */
  readonly maxPendingCalls?: number
  /** Generates the ids of outgoing calls instead of the counter. Must never return an id twice. */
  readonly makeId?: () => Id
  /** The last id of the counter; after it the connection closes. */
  readonly maxId?: number | bigint
  /** Called when 80, 90 and 96 percent of the ids are used. */
  readonly onIdLevel?: (level: IdLevel, id: number | bigint) => void
  /** Makes the error that a call rejects with from a received error; a profile sets its kind here. */
  readonly fromWire?: (error: ErrorObject) => RpcError
  /** @internal Keeps the timeouts of calls; by default one for the whole process, on the system clock. */
  readonly deadlines?: Deadlines
}

/** Callbacks from the outgoing half of a peer. */
export interface OutboundHost {
  /** A call is about to be sent: reading must resume, so that its reply can arrive. */
  onBegin(): void
  /** A call was abandoned by its signal or its timeout. */
  onAbandoned(id: Id, why: unknown): void
  /** The connection has run out of ids. */
  onExhausted(): void
}

/** Adds messages to a batch. */
export interface BatchBuilder {
  /** Adds a request to the batch; the promise settles with its response once the batch was sent. */
  call(method: string, params?: object, options?: CallOptions): Promise<unknown>
  /** Adds a notification to the batch. */
  notify(method: string, params?: object): void
}

type Outgoing = RpcRequest | RpcNotification

/** The type of `Promise.all` for a tuple. */
export type AllOf<T extends readonly unknown[]> = { -readonly [K in keyof T]: Awaited<T[K]> }

/** The outgoing half of a peer: sends calls and notifications and matches replies to calls. */
export class Outbound {
  readonly #channel: Channel
  readonly #host: OutboundHost
  readonly #timeoutMs: number
  readonly #maxPending: number
  readonly #ids: IdCounter
  readonly #makeId: () => Id
  readonly #pending: Pending
  readonly #sendQueue: SendQueue
  readonly #abortListeners = new AbortListeners((call, reason) => this.#abandon(call, reason))
  #closed = false

  constructor(
    channel: Channel,
    sendQueue: SendQueue,
    host: OutboundHost,
    options: OutboundOptions,
  ) {
    this.#channel = channel
    this.#sendQueue = sendQueue
    this.#host = host
    this.#timeoutMs = options.timeoutMs ?? limits.callTimeoutMs.default
    this.#maxPending = options.maxPendingCalls ?? limits.pendingCalls.default
    this.#ids = new IdCounter({ ceiling: options.maxId, onLevel: options.onIdLevel })
    this.#makeId = options.makeId ?? (() => this.#ids.next())
    const mayHaveIssued = (id: Id) => typeof id !== 'string' && id >= 1 && id <= this.#ids.last
    this.#pending = new Pending({
      deadlines: options.deadlines ?? systemDeadlines,
      fromWire: options.fromWire ?? rpcError,
      mayHaveIssued,
    })
  }

  /** The number of pending calls. */
  get size(): number {
    return this.#pending.size
  }

  /** Returns the ids of calls that have been sent and not been answered. */
  sent(): Id[] {
    return this.#pending.sent()
  }

  /**
   * Whether the channel accepted the request with this id. A request that it rejected or returned, or
   * that is still queued, has provably not been executed.
   */
  wasSent(id: Id): boolean {
    return this.#pending.wasSent(id)
  }

  /** Restarts the timeout of a pending call; 0 disables it. */
  restartTimeout(id: Id, timeoutMs: number): void {
    this.#pending.restartTimeout(id, timeoutMs)
  }

  /** Suspends the timeouts of all calls, or starts them anew. */
  suspendTimeouts(isSuspended: boolean): void {
    this.#pending.suspendTimeouts(isSuspended)
  }

  /** Calls a method of the peer; see `Peer.call`. */
  call(
    method: string,
    params?: object,
    options?: CallOptions,
    envelope?: Envelope,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.start({ resolve, reject }, method, params, options, envelope)
    })
  }

  /**
   * Like `call`, with a ReplyHandler instead of a promise. Returns the id; undefined if the call was
   * rejected at once.
   */
  start(
    handler: ReplyHandler,
    method: string,
    params?: object,
    options?: CallOptions,
    envelope?: Envelope,
  ): Id | undefined {
    const call = this.#begin(handler, method, options)
    if (call !== undefined) this.#sendQueue.send(requestOf(call, params), envelope, call)
    return call?.id
  }

  /** Sends a notification. On a closed connection it is dropped, as it could be in transit. */
  notify(method: string, params?: object, envelope?: Envelope): void | Promise<void> {
    try {
      return this.#channel.send(notification(method, params), envelope)
    } catch (error) {
      if (!(error instanceof ChannelError) || error.code === 'unserialisable') throw error
    }
  }

  /** Sends the messages that `build` adds as one batch; see `Peer.batch`. */
  async batch<const T extends readonly unknown[]>(
    build: (batch: BatchBuilder) => T,
  ): Promise<AllOf<T>> {
    const messages: Outgoing[] = []
    const calls: Call[] = []
    const begin = (method: string, params?: object, options?: CallOptions): Promise<unknown> => {
      const made = new Promise((resolve, reject) => {
        const call = this.#begin({ resolve, reject }, method, options, calls)
        if (call === undefined) return
        calls.push(call)
        messages.push(requestOf(call, params))
      })
      // The caller does not have to await every call of a batch.
      made.catch(() => {})
      return made
    }
    let results: T
    try {
      results = build({
        call: begin,
        notify: (method, params) => {
          messages.push(notification(method, params))
        },
      })
    } catch (error) {
      for (const call of calls) this.#pending.fail(call.id, error)
      throw error
    }
    if (messages.length > 0) this.#sendQueue.send(messages, undefined, this.#batchHandler(calls))
    // The check: Promise.all returns a tuple of the same length, each element awaited.
    return (await Promise.all(results)) as AllOf<T>
  }

  /** Settles the call that a reply belongs to; returns the reason if there is none. */
  settle(reply: RpcResult | RpcFailure | Malformed): StrayReason | undefined {
    return this.#pending.settle(reply)
  }

  /**
   * Abandons a pending call: it rejects with the reason, and the peer is notified as for an aborted
   * signal.
   */
  abandon(id: Id, reason: unknown): void {
    const call = this.#pending.get(id)
    if (call !== undefined) this.#abandon(call, reason)
  }

  /** Rejects a call for which the channel will get no reply; ignores an id that is not pending. */
  fail(id: Id, error: ChannelError): void {
    this.#pending.fail(id, error, error.code === 'closed')
  }

  /** Rejects all pending calls, and every later one. */
  close(why: string, cause?: Error): void {
    this.#closed = true
    this.#pending.failAll(method => new ChannelError('closed', `${method}: ${why}`, { cause }))
  }

  /** Registers a call. Returns undefined if it cannot be made; `handler` has then been rejected. */
  #begin(
    handler: ReplyHandler,
    method: string,
    options: CallOptions | undefined,
    group?: readonly Call[],
  ): Call | undefined {
    const signal = options?.signal
    const timeoutMs = options?.timeoutMs ?? this.#timeoutMs
    try {
      signal?.throwIfAborted()
      // The rest of a deadline can be negative: then the time is up before the call begins.
      if (!(timeoutMs >= 0)) throw noReply(method)
      const call = new Call(this.#nextId(method), method, handler, this.#handlers, group)
      this.#pending.add(call, timeoutMs)
      if (signal !== undefined) call.release = this.#abortListeners.watch(signal, call)
      this.#host.onBegin()
      return call
    } catch (error) {
      handler.reject(error)
      return undefined
    }
  }

  #nextId(method: string): Id {
    if (this.#closed) throw new ChannelError('closed', `${method}: the connection is closed`)
    if (this.#pending.size >= this.#maxPending) {
      throw new ChannelError('too-many', `${method}: ${this.#maxPending} calls are pending already`)
    }
    let id: Id
    try {
      id = this.#makeId()
    } catch (error) {
      if (error instanceof ChannelError && error.code === 'id-overflow') this.#host.onExhausted()
      throw error
    }
    // The decoder returns a safe integer as a number, so the reply would not be found under a bigint.
    if (typeof id === 'bigint' && Number.isSafeInteger(Number(id))) id = Number(id)
    if (this.#pending.has(id)) {
      throw new ChannelError('id-collision', `${method}: the id ${id} is in use`)
    }
    return id
  }

  readonly #handlers = {
    expire: (call: Call): void => this.#abandon(call, noReply(call.method)),
    sendFailed: (call: Call, error: unknown): void => this.#pending.fail(call.id, error, true),
  }

  #abandon(call: Call, reason: unknown): void {
    if (!this.#pending.abandon(call)) return
    call.handler.reject(reason)
    // A request that is still queued is withdrawn instead.
    if (!call.isSent || this.#closed) return
    this.#channel.abandon?.(call.id)
    this.#host.onAbandoned(call.id, reason)
  }

  #batchHandler(calls: readonly Call[]): SendHandler {
    return {
      beforeSend: () => {
        for (const call of calls) call.isSent = true
        return true
      },
      sendFailed: error => {
        for (const call of calls) this.#pending.fail(call.id, error, true)
      },
    }
  }
}

function noReply(method: string): ChannelError {
  return new ChannelError('timeout', `${method}: no reply in time`)
}

function requestOf(call: Call, params: object | undefined): RpcRequest {
  // The check: the encoder rejects a value that is neither an array nor an object.
  return { type: 'request', id: call.id, method: call.method, params: params as Params }
}

function notification(method: string, params: object | undefined): RpcNotification {
  // The check: the encoder rejects a value that is neither an array nor an object.
  return { type: 'notification', method, params: params as Params }
}
