import { type Deadlines, systemDeadlines, timed } from '../util/deadline.ts'
import { type Deferred, deferred } from '../util/deferred.ts'
import { limits } from '../util/limits.ts'
import type { Reply } from './answering.ts'
import { Gathering } from './batch.ts'
import { type Channel, ChannelError, type Envelope } from './channel.ts'
import { encode } from './encode.ts'
import { codes, errorObject, internalError, RpcError, standardKind } from './error.ts'
import { type CallOptions, type Calls, type Handler, type Method, methods } from './handler.ts'
import { Inbound } from './inbound.ts'
import type {
  Batch,
  Decoded,
  ErrorObject,
  Id,
  Malformed,
  Message,
  RpcFailure,
  RpcNotification,
  RpcRequest,
  RpcResult,
} from './message.ts'
import { type AllOf, type BatchBuilder, Outbound, type OutboundOptions } from './outbound.ts'
import type { StrayReason } from './pending.ts'

/** How the two sides tell each other that a request is given up. */
export interface Cancellation {
  /** The notification, such as `$/cancelRequest`. */
  readonly method: string
  /** The member of its params that holds the id of the request. */
  readonly member: string
  /** What a cancelled request is answered with; without it, it is not answered. */
  readonly answer?: ErrorObject
}

/** What a peer may be told. Every limit left out has the default of `docs/limits.md`. */
export interface PeerOptions extends OutboundOptions {
  readonly maxInFlight?: number
  readonly maxQueued?: number
  /** Whether batches of the other side are taken apart; otherwise they are refused. */
  readonly batches?: boolean
  readonly cancellation?: Cancellation
  /** The error as it goes to the other side: where a profile chooses the numbers. */
  readonly toWire?: (error: RpcError) => ErrorObject
  /** Told everything a handler threw that the other side is not told. By default on stderr. */
  readonly onError?: (error: unknown, message?: RpcRequest | RpcNotification) => void
  /** Told of replies that nobody waits for. */
  readonly onStray?: (reply: RpcResult | RpcFailure | Malformed, why: StrayReason) => void
  /** Told of text that was no message; it has been answered. */
  readonly onMalformed?: (what: Malformed) => void
}

/**
 * Makes calls and answers them, over one channel that it opens and closes.
 *
 * Both directions are equal: either side may call the other at any time. A handler's failure, a
 * malformed text or a stray reply never ends the connection.
 */
export class Peer implements Calls, AsyncDisposable {
  /** Settles when everything has ended; with the cause, if it was not in good order. */
  readonly closed: Promise<Error | undefined>
  readonly #channel: Channel
  readonly #options: PeerOptions
  readonly #onError: (error: unknown, message?: RpcRequest | RpcNotification) => void
  readonly #deadlines: Deadlines
  readonly #outbound: Outbound
  readonly #inbound: Inbound
  readonly #settleClosed: (cause: Error | undefined) => void
  #isOpen = true
  #ending: Promise<void> | undefined
  #cause: Error | undefined
  /** Reading waits for this while requests wait for their turn. */
  #crowded: Deferred<void> | undefined
  /** Reading waits for this while replies cannot leave. */
  #congested: Promise<void> | undefined
  readonly #drainDeadline = timed(() => this.#onDrained?.())
  #onDrained: (() => void) | undefined

  constructor(
    channel: Channel,
    answers: Handler | Readonly<Record<string, Method>> = {},
    options: PeerOptions = {},
  ) {
    this.#channel = channel
    this.#options = options
    this.#onError = options.onError ?? printError
    this.#deadlines = options.deadlines ?? systemDeadlines
    const host = {
      onBegin: () => this.#endCrowding(),
      onAbandoned: (id: Id) => this.#tellAbandoned(id),
      onExhausted: () => void this.close(),
    }
    this.#outbound = new Outbound(channel, host, options)
    this.#inbound = new Inbound({
      handler: typeof answers === 'function' ? answers : methods(answers),
      way: {
        calls: this,
        notify: (method, params, envelope) => this.#outbound.notify(method, params, envelope),
      },
      maxInFlight: options.maxInFlight ?? limits.inFlight.default,
      maxQueued: options.maxQueued ?? limits.queued.default,
      onError: this.#onError,
      toWire: options.toWire ?? errorObject,
      busy: BUSY,
      onMoved: () => this.#onMoved(),
    })
    const closed = deferred<Error | undefined>()
    this.closed = closed.promise
    this.#settleClosed = closed.resolve
    channel.open({
      receive: (arrival, envelope) => this.#receive(arrival, envelope),
      closed: cause => this.#onClosed(cause),
    })
  }

  /** Calls that wait for their reply. */
  get pendingCalls(): number {
    return this.#outbound.size
  }

  /** Requests of the other side that have not been answered yet. */
  get inFlight(): number {
    return this.#inbound.size
  }

  /**
   * Calls a method of the other side. Rejects with an RpcError when it answers with an error, with a
   * ChannelError when the reply cannot come or comes too late, and with the signal's own reason.
   */
  call(method: string, params?: object, options?: CallOptions): Promise<unknown> {
    return this.#outbound.call(method, params, options)
  }

  /** Sends a notification. A returned promise asks to wait before sending more. */
  notify(method: string, params?: object): void | Promise<void> {
    return this.#outbound.notify(method, params)
  }

  /**
   * Sends several messages as one batch and settles as `Promise.all` does with what `build` returns:
   * `await peer.batch(b => [b.call('sum', [1, 2]), b.call('time')])`.
   */
  batch<const T extends readonly unknown[]>(build: (batch: BatchBuilder) => T): Promise<AllOf<T>> {
    return this.#outbound.batch(build)
  }

  /** Gives up answering a request of the other side; returns whether there was one. */
  cancel(id: Id, reason: unknown = new ChannelError('closed', 'cancelled')): boolean {
    return this.#inbound.cancel(id, reason, this.#options.cancellation?.answer)
  }

  /**
   * Ends in good order: no new requests are taken on, those in flight are answered within `drainMs`
   * or else refused, calls that still wait reject, and the channel closes. Idempotent; never rejects.
   * A later call with another `drainMs` counts from then.
   */
  close(options: { readonly drainMs?: number } = {}): Promise<void> {
    if (this.#ending === undefined) {
      this.#ending = this.#end(options.drainMs ?? limits.drainMs.default)
    } else if (this.#onDrained !== undefined && options.drainMs !== undefined) {
      this.#deadlines.stop(this.#drainDeadline)
      this.#deadlines.start(this.#drainDeadline, options.drainMs)
    }
    return this.#ending
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #receive(arrival: Decoded, envelope: Envelope): void | Promise<void> {
    switch (arrival.type) {
      case 'request':
        this.#onRequest(arrival, envelope, this.#reply)
        break
      case 'notification':
        this.#onNotification(arrival, envelope)
        break
      case 'result':
      case 'error':
        this.#onReply(arrival)
        break
      case 'invalid':
        this.#onMalformed(arrival, envelope, this.#reply)
        break
      case 'batch':
        this.#onBatch(arrival, envelope)
        break
    }
    return this.#congested ?? this.#crowding()
  }

  #onRequest(message: RpcRequest, envelope: Envelope, reply: Reply): void {
    if (!this.#isOpen) {
      reply({ type: 'error', id: message.id, error: SHUTTING_DOWN }, envelope)
    } else if (message.id !== null && this.#inbound.isInFlight(message.id)) {
      // With its own id the answer could be taken for that of the first request.
      reply({ type: 'error', id: null, error: this.#refusal(INVALID_REQUEST) }, envelope)
    } else {
      this.#inbound.request(message, envelope, reply)
    }
  }

  #onNotification(message: RpcNotification, envelope: Envelope): void {
    const { cancellation } = this.#options
    if (cancellation !== undefined && message.method === cancellation.method) {
      const params = Object.entries(message.params ?? {})
      const id = params.find(([name]) => name === cancellation.member)?.[1]
      if (typeof id === 'string' || typeof id === 'number') this.cancel(id)
      return
    }
    this.#inbound.notification(message, envelope)
  }

  #onReply(reply: RpcResult | RpcFailure | Malformed): void {
    const why = this.#outbound.settle(reply)
    if (why !== undefined) this.#options.onStray?.(reply, why)
  }

  #onMalformed(what: Malformed, envelope: Envelope, reply: Reply): void {
    if (what.reply) this.#onReply(what)
    else {
      const id = what.id !== null && this.#inbound.isInFlight(what.id) ? null : what.id
      reply({ type: 'error', id, error: this.#refusal(what.error) }, envelope)
    }
    this.#options.onMalformed?.(what)
  }

  /** A profile that tells the kind of every error tells it of malformed text too. */
  #refusal(error: ErrorObject): ErrorObject {
    const { toWire } = this.#options
    if (toWire === undefined) return error
    const kind = standardKind(error.code)
    return toWire(new RpcError(error.code, error.message, { data: error.data, kind }))
  }

  #onBatch(batch: Batch, envelope: Envelope): void {
    if (this.#options.batches === false) {
      this.#sendReply({ type: 'error', id: null, error: this.#refusal(INVALID_REQUEST) }, envelope)
      return
    }
    const gathering = new Gathering(replies => this.#sendReply(replies, envelope))
    const placed = (): Reply => {
      const place = gathering.expect()
      return reply => gathering.put(place, reply)
    }
    for (const entry of batch.entries) {
      if (entry.type === 'request') this.#onRequest(entry, envelope, placed())
      else if (entry.type === 'notification') this.#onNotification(entry, envelope)
      else if (entry.type !== 'invalid') this.#onReply(entry)
      else this.#onMalformed(entry, envelope, entry.reply ? this.#reply : placed())
    }
    gathering.complete()
  }

  readonly #reply: Reply = (reply, envelope) => {
    if (reply !== undefined) this.#sendReply(reply, envelope)
  }

  #sendReply(reply: Message | readonly Message[], envelope: Envelope): void {
    try {
      const congested = this.#channel.send(reply, envelope)
      if (congested !== undefined) this.#onCongested(congested)
    } catch (error) {
      // A channel that has closed meanwhile says so itself.
      if (!(error instanceof ChannelError) || error.code !== 'unserialisable') return
      this.#onError(error)
      this.#sendReply(isList(reply) ? reply.map(asWritable) : unwritable(reply), envelope)
    }
  }

  #onCongested(congested: Promise<void>): void {
    const over = () => {
      if (this.#congested === waiting) this.#congested = undefined
    }
    const waiting = congested.then(over, over)
    this.#congested = waiting
  }

  /**
   * While requests wait for their turn, nothing more is read, unless calls of our own wait for
   * replies: those come the same way, and a handler may be waiting for one.
   */
  #crowding(): Promise<void> | undefined {
    if (this.#inbound.waiting === 0 || this.#outbound.size > 0) return undefined
    this.#crowded ??= deferred<void>()
    return this.#crowded.promise
  }

  #endCrowding(): void {
    this.#crowded?.resolve()
    this.#crowded = undefined
  }

  #onMoved(): void {
    if (this.#crowded !== undefined && this.#inbound.waiting === 0) this.#endCrowding()
    if (this.#onDrained !== undefined && this.#inbound.size === 0) this.#onDrained()
  }

  #tellAbandoned(id: Id): void {
    const { cancellation } = this.#options
    if (cancellation === undefined) return
    try {
      const told = this.#outbound.notify(cancellation.method, { [cancellation.member]: id })
      if (told !== undefined) told.then(undefined, () => {})
    } catch {
      // A courtesy. The caller has its answer, and a closed channel needs none.
    }
  }

  /** The channel delivers nothing more; without a cause it still takes the replies in flight. */
  #onClosed(cause: Error | undefined): void {
    this.#cause ??= cause
    this.#outbound.close(new ChannelError('closed', 'the connection ended', { cause }))
    if (cause !== undefined) this.#inbound.cancelAll(cause)
    void this.close()
  }

  async #end(drainMs: number): Promise<void> {
    this.#isOpen = false
    await this.#drain(drainMs)
    this.#inbound.cancelAll(new ChannelError('closed', 'shut down'), SHUTTING_DOWN)
    this.#outbound.close(new ChannelError('closed', 'closed while a call waited for its reply'))
    this.#endCrowding()
    await this.#channel.close()
    this.#settleClosed(this.#cause)
  }

  #drain(drainMs: number): Promise<void> | undefined {
    if (this.#inbound.size === 0) return undefined
    return new Promise(resolve => {
      this.#onDrained = () => {
        this.#onDrained = undefined
        this.#deadlines.stop(this.#drainDeadline)
        resolve()
      }
      this.#deadlines.start(this.#drainDeadline, drainMs)
    })
  }
}

const INVALID_REQUEST: ErrorObject = { code: codes.invalidRequest, message: 'Invalid Request' }
// Codes from -32099 to -32000 are left to implementations by JSON-RPC 2.0, section 5.1.
const BUSY: ErrorObject = { code: -32000, message: 'Too many requests at once' }
const SHUTTING_DOWN: ErrorObject = { code: -32000, message: 'Shutting down' }

function printError(error: unknown, message?: RpcRequest | RpcNotification): void {
  // Refusing a notification is no failure of ours, and anyone could fill the log with them.
  if (error instanceof RpcError) return
  console.error(`trunkline: ${message?.method ?? 'a reply'} failed:`, error)
}

function isList(reply: Message | readonly Message[]): reply is readonly Message[] {
  return Array.isArray(reply)
}

/** Each reply of a batch that can be written stays; the others become an error of their own. */
function asWritable(reply: Message): Message {
  try {
    encode(reply)
    return reply
  } catch {
    return unwritable(reply)
  }
}

function unwritable(reply: Message): RpcFailure {
  const id = reply.type === 'notification' ? null : reply.id
  return { type: 'error', id, error: errorObject(internalError()) }
}
