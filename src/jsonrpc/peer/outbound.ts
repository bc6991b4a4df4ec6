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
import { Aborts } from './aborts.ts'
import { IdCounter, type IdLevel } from './id-counter.ts'
import { Call, Pending, type StrayReason, type Waiter } from './pending.ts'
import type { Sender, Sending } from './send-queue.ts'

/** What concerns the calls a peer makes. */
export interface OutboundOptions {
  /** How long calls wait for their replies, unless the call says otherwise; 0 waits for ever. */
  readonly timeoutMs?: number
  readonly maxPendingCalls?: number
  /** Makes the ids of outgoing calls instead of the counter. Must never give one twice. */
  readonly makeId?: () => Id
  /** The id at which the counter is used up and the connection closes. */
  readonly maxId?: number | bigint
  /** Told when the ids are used up by 80, 90 and 96 per cent. */
  readonly onIdLevel?: (level: IdLevel, id: number | bigint) => void
  /** The error of a reply, as a call rejects with it: where a profile names its kind. */
  readonly fromWire?: (error: ErrorObject) => RpcError
  readonly deadlines?: Deadlines
}

/** What a peer does for its outgoing half. */
export interface OutboundHost {
  /** A call begins: its reply must be read, whatever holds up reading. */
  onBegin(): void
  /** A call was given up, by its signal or its deadline. */
  onAbandoned(id: Id, why: unknown): void
  /** The ids of this connection are used up. */
  onExhausted(): void
}

/** Collects the messages of one batch. */
export interface BatchBuilder {
  call(method: string, params?: object, options?: CallOptions): Promise<unknown>
  notify(method: string, params?: object): void
}

type Outgoing = RpcRequest | RpcNotification

/** What `Promise.all` gives for a tuple. */
export type AllOf<T extends readonly unknown[]> = { -readonly [K in keyof T]: Awaited<T[K]> }

/** The calls and notifications of one peer, on their way out and waiting. */
export class Outbound {
  readonly #channel: Channel
  readonly #host: OutboundHost
  readonly #timeoutMs: number
  readonly #maxPending: number
  readonly #ids: IdCounter
  readonly #makeId: () => Id
  readonly #pending: Pending
  readonly #sending: Sending
  readonly #aborts = new Aborts((call, reason) => this.#abandon(call, reason))
  #closed = false

  constructor(channel: Channel, sending: Sending, host: OutboundHost, options: OutboundOptions) {
    this.#channel = channel
    this.#sending = sending
    this.#host = host
    this.#timeoutMs = options.timeoutMs ?? limits.callTimeoutMs.default
    this.#maxPending = options.maxPendingCalls ?? limits.pendingCalls.default
    this.#ids = new IdCounter({ ceiling: options.maxId, onLevel: options.onIdLevel })
    this.#makeId = options.makeId ?? (() => this.#ids.next())
    const mayHaveGiven = (id: Id) => typeof id !== 'string' && id >= 1 && id <= this.#ids.last
    this.#pending = new Pending({
      deadlines: options.deadlines ?? systemDeadlines,
      fromWire: options.fromWire ?? rpcError,
      mayHaveGiven,
    })
  }

  get size(): number {
    return this.#pending.size
  }

  /** The ids of calls that have been sent and not been answered. */
  sent(): Id[] {
    return this.#pending.sent()
  }

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

  /** The same without a promise. Gives the id of the call; none where it was refused at once. */
  start(
    waiter: Waiter,
    method: string,
    params?: object,
    options?: CallOptions,
    envelope?: Envelope,
  ): Id | undefined {
    const call = this.#begin(waiter, method, options)
    if (call !== undefined) this.#sending.send(requestOf(call, params), envelope, call)
    return call?.id
  }

  /** A notification on a connection that has ended is dropped, as it would be on the way. */
  notify(method: string, params?: object, envelope?: Envelope): void | Promise<void> {
    try {
      return this.#channel.send(notification(method, params), envelope)
    } catch (error) {
      if (!(error instanceof ChannelError) || error.code === 'unserialisable') throw error
    }
  }

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
      // Whoever builds a batch may not wait for each of its calls.
      made.catch(() => {})
      return made
    }
    let answers: T
    try {
      answers = build({
        call: begin,
        notify: (method, params) => {
          messages.push(notification(method, params))
        },
      })
    } catch (error) {
      for (const call of calls) this.#pending.fail(call.id, error)
      throw error
    }
    if (messages.length > 0) this.#sending.send(messages, undefined, this.#batchSender(calls))
    // The check: Promise.all gives a tuple of the same length, each place awaited.
    return (await Promise.all(answers)) as AllOf<T>
  }

  /** Settles the call a reply belongs to, or tells why there is none. */
  settle(reply: RpcResult | RpcFailure | Malformed): StrayReason | undefined {
    return this.#pending.settle(reply)
  }

  /** Nobody waits any more for a call: it is told the reason, and the other side as by a signal. */
  abandon(id: Id, reason: unknown): void {
    const call = this.#pending.get(id)
    if (call !== undefined) this.#abandon(call, reason)
  }

  /** Rejects the call that the channel gets no reply for; of one that nobody waits for it is silent. */
  fail(id: Id, error: ChannelError): void {
    this.#pending.fail(id, error)
  }

  /** Rejects whatever waits; afterwards nothing can be called. */
  close(why: string, cause?: Error): void {
    this.#closed = true
    this.#pending.failAll(method => new ChannelError('closed', `${method}: ${why}`, { cause }))
  }

  /** Registers a call; undefined when it cannot be made, and then it has been rejected. */
  #begin(
    waiter: Waiter,
    method: string,
    options: CallOptions | undefined,
    group?: readonly Call[],
  ): Call | undefined {
    const signal = options?.signal
    const timeoutMs = options?.timeoutMs ?? this.#timeoutMs
    try {
      signal?.throwIfAborted()
      // Time that was up before the call began: what is left of a deadline may be less than nothing.
      if (!(timeoutMs >= 0)) throw noReply(method)
      const call = new Call(this.#nextId(method), method, waiter, this.#handlers, group)
      this.#pending.add(call, timeoutMs)
      if (signal !== undefined) call.release = this.#aborts.watch(signal, call)
      this.#host.onBegin()
      return call
    } catch (error) {
      waiter.reject(error)
      return undefined
    }
  }

  #nextId(method: string): Id {
    if (this.#closed) throw new ChannelError('closed', `${method}: the connection is closed`)
    if (this.#pending.size >= this.#maxPending) {
      throw new ChannelError('too-many', `${method}: ${this.#maxPending} calls wait already`)
    }
    let id: Id
    try {
      id = this.#makeId()
    } catch (error) {
      if (error instanceof ChannelError && error.code === 'id-overflow') this.#host.onExhausted()
      throw error
    }
    // Reading gives a safe integer as a number, so the reply would not be found under a bigint.
    if (typeof id === 'bigint' && Number.isSafeInteger(Number(id))) id = Number(id)
    if (this.#pending.has(id)) {
      throw new ChannelError('id-collision', `${method}: the id ${id} is in use`)
    }
    return id
  }

  readonly #handlers = {
    expire: (call: Call): void => this.#abandon(call, noReply(call.method)),
    failed: (call: Call, error: unknown): void => this.#pending.fail(call.id, error),
  }

  #abandon(call: Call, reason: unknown): void {
    if (!this.#pending.abandon(call)) return
    call.waiter.reject(reason)
    // What has not left yet is taken back instead.
    if (!call.isSent || this.#closed) return
    this.#channel.abandon?.(call.id)
    this.#host.onAbandoned(call.id, reason)
  }

  #batchSender(calls: readonly Call[]): Sender {
    return {
      begins: () => {
        for (const call of calls) call.isSent = true
        return true
      },
      failed: error => {
        for (const call of calls) this.#pending.fail(call.id, error)
      },
    }
  }
}

function noReply(method: string): ChannelError {
  return new ChannelError('timeout', `${method}: no reply in time`)
}

function requestOf(call: Call, params: object | undefined): RpcRequest {
  // The check: the encoder refuses whatever is neither array nor object.
  return { type: 'request', id: call.id, method: call.method, params: params as Params }
}

function notification(method: string, params: object | undefined): RpcNotification {
  // The check: the encoder refuses whatever is neither array nor object.
  return { type: 'notification', method, params: params as Params }
}
