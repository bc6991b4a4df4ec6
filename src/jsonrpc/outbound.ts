import { type Deadlines, systemDeadlines } from '../util/deadline.ts'
import { limits } from '../util/limits.ts'
import { type Channel, ChannelError, type Envelope } from './channel.ts'
import { type RpcError, rpcError } from './error.ts'
import type { CallOptions } from './handler.ts'
import { IdCounter, type IdLevel } from './ids.ts'
import type {
  ErrorObject,
  Id,
  Malformed,
  Params,
  RpcFailure,
  RpcNotification,
  RpcRequest,
  RpcResult,
} from './message.ts'
import { Call, Pending, type StrayReason } from './pending.ts'

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
  onAbandoned(id: Id, reason: unknown): void
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
  #closed = false

  constructor(channel: Channel, host: OutboundHost, options: OutboundOptions) {
    this.#channel = channel
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

  call(method: string, params?: object, options?: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const request = this.#begin(method, params, options, resolve, reject)
      if (request !== undefined) this.#send(request)
    })
  }

  notify(method: string, params?: object, envelope?: Envelope): void | Promise<void> {
    return this.#channel.send(notification(method, params), envelope)
  }

  async batch<const T extends readonly unknown[]>(
    build: (batch: BatchBuilder) => T,
  ): Promise<AllOf<T>> {
    const messages: Outgoing[] = []
    const answers = build({
      call: (method, params, options) =>
        new Promise((resolve, reject) => {
          const request = this.#begin(method, params, options, resolve, reject)
          if (request !== undefined) messages.push(request)
        }),
      notify: (method, params) => {
        messages.push(notification(method, params))
      },
    })
    const all = Promise.all(answers)
    if (messages.length > 0) this.#send(messages)
    // The check: Promise.all gives a tuple of the same length, each place awaited.
    return (await all) as AllOf<T>
  }

  /** Settles the call a reply belongs to, or tells why there is none. */
  settle(reply: RpcResult | RpcFailure | Malformed): StrayReason | undefined {
    return this.#pending.settle(reply)
  }

  /** Rejects whatever waits; afterwards nothing can be called. */
  close(error: ChannelError): void {
    this.#closed = true
    this.#pending.failAll(error)
  }

  /** Registers a call; undefined when it cannot be made, and then it has been rejected. */
  #begin(
    method: string,
    params: object | undefined,
    options: CallOptions | undefined,
    resolve: (result: unknown) => void,
    reject: (error: unknown) => void,
  ): RpcRequest | undefined {
    const signal = options?.signal
    if (signal?.aborted) {
      reject(signal.reason)
      return undefined
    }
    let id: Id
    try {
      id = this.#nextId(method)
    } catch (error) {
      reject(error)
      return undefined
    }
    const call = new Call(id, method, resolve, reject, this.#onExpire)
    this.#pending.add(call, options?.timeoutMs ?? this.#timeoutMs)
    if (signal !== undefined) {
      const onAbort = () => this.#abandon(call, signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      call.release = () => signal.removeEventListener('abort', onAbort)
    }
    this.#host.onBegin()
    return { type: 'request', id, method, params: params as Params }
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
    if (this.#pending.has(id)) {
      throw new ChannelError('id-collision', `${method}: the id ${id} is in use`)
    }
    return id
  }

  readonly #onExpire = (call: Call): void => {
    this.#abandon(call, new ChannelError('timeout', `${call.method}: no reply in time`))
  }

  #abandon(call: Call, reason: unknown): void {
    if (!this.#pending.abandon(call)) return
    call.reject(reason)
    this.#channel.abandon?.(call.id)
    if (!this.#closed) this.#host.onAbandoned(call.id, reason)
  }

  #send(message: RpcRequest | readonly Outgoing[]): void {
    try {
      const room = this.#channel.send(message)
      // Whoever calls waits for the reply; a channel that closes meanwhile rejects it.
      if (room !== undefined) room.then(undefined, () => {})
    } catch (error) {
      for (const one of isList(message) ? message : [message]) {
        if (one.type === 'request' && one.id !== null) this.#pending.fail(one.id, error)
      }
    }
  }
}

function notification(method: string, params: object | undefined): RpcNotification {
  // The check: the encoder refuses whatever is neither array nor object.
  return { type: 'notification', method, params: params as Params }
}

function isList(message: RpcRequest | readonly Outgoing[]): message is readonly Outgoing[] {
  return Array.isArray(message)
}
