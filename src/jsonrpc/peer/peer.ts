import { type Deferred, deferred } from '../../util/deferred.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Deadlines, systemDeadlines, timed } from '../../util/time/deadline.ts'
import { cancelled, cancelledIn, cancelParams } from '../cancellation.ts'
import { type Channel, ChannelError, type Envelope } from '../channel.ts'
import { errorObject, RpcError, standardKind } from '../error.ts'
import { type CallOptions, type Calls, type Handler, type Method, methods } from '../handler.ts'
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
} from '../message.ts'
import type { Reply } from './exchange.ts'
import { Inbound } from './inbound.ts'
import { guarded, type PeerOptions, printError } from './options.ts'
import { type AllOf, type BatchBuilder, Outbound } from './outbound.ts'
import type { Waiter } from './pending.ts'
import { Gathering } from './reply-batch.ts'
import { type Sender, Sending } from './send-queue.ts'
import { BUSY, INVALID_REQUEST, SHUTTING_DOWN, writableReply } from './standard-errors.ts'

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
  readonly #onStray: NonNullable<PeerOptions['onStray']>
  readonly #onMalformedText: NonNullable<PeerOptions['onMalformed']>
  readonly #deadlines: Deadlines
  readonly #outbound: Outbound
  readonly #inbound: Inbound
  readonly #settleClosed: (cause: Error | undefined) => void
  #isOpen = true
  #ending: Promise<void> | undefined
  #cause: Error | undefined
  readonly #sending: Sending
  /** Reading waits for this while too much waits to be answered or to leave. */
  #paused: Deferred<void> | undefined
  readonly #pauseDeadline = timed(() => this.#resume())
  readonly #drainDeadline = timed(() => this.#onDrained?.())
  #onDrained: (() => void) | undefined

  constructor(
    channel: Channel,
    answers: Handler | Readonly<Record<string, Method>> = {},
    options: PeerOptions = {},
  ) {
    this.#channel = channel
    this.#options = options
    this.#onError = guarded(options.onError ?? printError)
    this.#onStray = guarded(options.onStray)
    this.#onMalformedText = guarded(options.onMalformed)
    this.#deadlines = options.deadlines ?? systemDeadlines
    const host = {
      // A handler may be waiting for this reply, which comes the way that is paused.
      onBegin: () => this.#resume(),
      onAbandoned: (id: Id, why: unknown) => this.#tellAbandoned(id, why),
      onExhausted: () => void this.close(),
    }
    this.#sending = new Sending(channel, () => this.#inbound.proceed())
    this.#outbound = new Outbound(channel, this.#sending, host, options)
    this.#inbound = new Inbound({
      handler: typeof answers === 'function' ? answers : methods(answers),
      way: {
        calls: this,
        callsOn: envelope => ({
          call: (method, params, options) => this.#outbound.call(method, params, options, envelope),
          notify: (method, params) => this.#outbound.notify(method, params, envelope),
        }),
        notify: (method, params, envelope) => this.#outbound.notify(method, params, envelope),
      },
      maxInFlight: options.maxInFlight ?? limits.inFlight.default,
      maxQueued: options.maxQueued ?? limits.queued.default,
      isCongested: () => this.#sending.isCongested,
      onError: this.#onError,
      toWire: options.toWire ?? errorObject,
      busy: this.#refusal(BUSY),
      onMoved: () => this.#onMoved(),
    })
    const closed = deferred<Error | undefined>()
    this.closed = closed.promise
    this.#settleClosed = closed.resolve
    channel.open({
      receive: (arrival, envelope) => this.#receive(arrival, envelope),
      failed: (id, error) => this.#outbound.fail(id, error),
      closed: cause => this.#onClosed(cause),
    })
  }

  /** Calls that wait for their reply. */
  get pendingCalls(): number {
    return this.#outbound.size
  }

  /** The ids of calls that have been sent and not been answered: for whoever leaves and says so. */
  sentCalls(): Id[] {
    return this.#outbound.sent()
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

  /**
   * The same for whoever has no use for a promise: tells `waiter` instead, inside whatever settles the
   * call. Gives the id of the call; none where it was refused at once.
   */
  start(waiter: Waiter, method: string, params?: object, options?: CallOptions): Id | undefined {
    return this.#outbound.start(waiter, method, params, options)
  }

  /** Gives up a call that was started: its waiter is told the reason. Does nothing once it has settled. */
  abandon(id: Id, reason: unknown): void {
    this.#outbound.abandon(id, reason)
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
  cancel(id: Id, reason: unknown = cancelled()): boolean {
    const { answer, except } = this.#options.cancellation ?? {}
    return this.#inbound.cancel(id, reason, answer, except)
  }

  /**
   * Ends in good order: no new requests are taken on, those in flight are answered within `drainMs`
   * or else refused, calls that still wait reject, and the channel closes. With 0 nothing is waited for.
   * Idempotent; never rejects. A later call with another `drainMs` counts from then.
   */
  close(options: { readonly drainMs?: number } = {}): Promise<void> {
    if (this.#ending === undefined) {
      this.#ending = this.#end(options.drainMs ?? limits.drainMs.default)
    } else if (this.#onDrained !== undefined && options.drainMs !== undefined) {
      this.#deadlines.stop(this.#drainDeadline)
      if (options.drainMs > 0) this.#deadlines.start(this.#drainDeadline, options.drainMs)
      else this.#onDrained()
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
    return this.#isCrowded() ? this.#pause() : undefined
  }

  #onRequest(message: RpcRequest, envelope: Envelope, reply: Reply): void {
    if (!this.#isOpen) {
      reply({ type: 'error', id: message.id, error: this.#refusal(SHUTTING_DOWN) }, envelope)
    } else if (message.id !== null && this.#inbound.isInFlight(message.id)) {
      // With its own id the answer could be taken for that of the first request.
      reply(this.#failure(null, INVALID_REQUEST), envelope)
    } else {
      this.#inbound.request(message, envelope, reply)
    }
  }

  #onNotification(message: RpcNotification, envelope: Envelope): void {
    const { cancellation } = this.#options
    if (cancellation !== undefined && message.method === cancellation.method) {
      const given = cancelledIn(cancellation, message)
      if (given !== undefined) this.cancel(given.id, given.why)
      return
    }
    this.#inbound.notification(message, envelope)
  }

  #onReply(reply: RpcResult | RpcFailure | Malformed): void {
    const why = this.#outbound.settle(reply)
    if (why !== undefined) this.#onStray(reply, why)
  }

  #onMalformed(what: Malformed, envelope: Envelope, reply: Reply): void {
    if (what.reply) this.#onReply(what)
    else {
      const id = what.id !== null && this.#inbound.isInFlight(what.id) ? null : what.id
      reply(this.#failure(id, what.error), envelope)
    }
    this.#onMalformedText(what)
  }

  #failure(id: Id | null, error: ErrorObject): RpcFailure {
    const { omitsNullIds = false } = this.#options
    const failure: RpcFailure = { type: 'error', id, error: this.#refusal(error) }
    const omitsId = typeof omitsNullIds === 'function' ? omitsNullIds() : omitsNullIds
    return id === null && omitsId ? { ...failure, omitsId } : failure
  }

  /** A profile that tells the kind of every error tells it of malformed text too. */
  #refusal(error: ErrorObject): ErrorObject {
    const { toWire } = this.#options
    if (toWire === undefined) return error
    const kind = standardKind(error.code)
    return toWire(new RpcError(error.code, error.message, { data: error.data, kind }))
  }

  #onBatch(batch: Batch, envelope: Envelope): void {
    const { batches = true } = this.#options
    if (!(typeof batches === 'function' ? batches(batch) : batches)) {
      this.#sendReply(this.#failure(null, INVALID_REQUEST), envelope)
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
    this.#sending.send(reply, envelope, this.#replies)
  }

  readonly #replies: Sender = {
    failed: (error, reply, envelope) => {
      // A channel that has closed meanwhile says so itself.
      if (!(error instanceof ChannelError) || error.code === 'closed') return
      this.#onError(error)
      if (error.code !== 'unserialisable') return
      this.#sending.send(writableReply(reply), envelope, this.#replies)
    },
  }

  /** Calls of our own keep reading going: a handler may wait for one, whose reply comes the same way. */
  #isCrowded(): boolean {
    if (this.#outbound.size > 0) return false
    return this.#inbound.isCrowded || this.#sending.isCongested
  }

  #pause(): Promise<void> {
    if (this.#paused === undefined) {
      this.#paused = deferred<void>()
      // Not for ever: what would end it, a cancellation or the end, may be waiting to be read.
      this.#deadlines.start(this.#pauseDeadline, limits.pauseMs.default)
    }
    return this.#paused.promise
  }

  #resume(): void {
    if (this.#paused === undefined) return
    this.#deadlines.stop(this.#pauseDeadline)
    this.#paused.resolve()
    this.#paused = undefined
  }

  #onMoved(): void {
    if (this.#paused !== undefined && !this.#isCrowded()) this.#resume()
    if (this.#onDrained !== undefined && this.#isIdle()) this.#onDrained()
  }

  #isIdle(): boolean {
    return this.#inbound.size === 0 && this.#sending.waiting === 0
  }

  #tellAbandoned(id: Id, why: unknown): void {
    const { cancellation } = this.#options
    if (cancellation === undefined) return
    try {
      const params = cancelParams(cancellation, id, why)
      const told = this.#outbound.notify(cancellation.method, params)
      if (told !== undefined) told.then(undefined, () => {})
    } catch {
      // A courtesy. The caller has its answer, and a closed channel needs none.
    }
  }

  /**
   * The channel delivers nothing more. Where the other side can still hear us, the requests in flight
   * are answered for a while; where it cannot, they have nobody left to answer.
   */
  #onClosed(cause: Error | undefined): void {
    this.#cause ??= cause
    this.#outbound.close('the connection ended', cause)
    if (cause !== undefined || this.#channel.halfOpen !== true) {
      const reason = cause ?? new ChannelError('closed', 'the other side closed the connection')
      this.#inbound.cancelAll(reason)
    }
    guarded(this.#options.onEnded)()
    // An end that has been asked for keeps its own deadline.
    if (this.#ending === undefined) {
      void this.close({ drainMs: this.#options.endedMs ?? limits.endedMs.default })
    }
  }

  async #end(drainMs: number): Promise<void> {
    this.#isOpen = false
    await this.#drain(drainMs)
    this.#inbound.cancelAll(new ChannelError('closed', 'shut down'), this.#refusal(SHUTTING_DOWN))
    this.#outbound.close('closed while waiting for the reply')
    this.#resume()
    await this.#channel.close()
    this.#settleClosed(this.#cause)
  }

  #drain(drainMs: number): Promise<void> | undefined {
    if (!(drainMs > 0) || this.#isIdle()) return undefined
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
