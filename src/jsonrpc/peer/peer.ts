import { limits } from '../../util/limits/limits.ts'
import { checkOptions } from '../../util/options.ts'
import { deferred } from '../../util/promises.ts'
import { type Deadlines, systemDeadlines } from '../../util/time/deadline.ts'
import { cancelled, cancelledIn, cancelParams } from '../cancellation.ts'
import { type Channel, ChannelError, type Envelope } from '../channel.ts'
import { errorObject } from '../error.ts'
import { type CallOptions, type Calls, type Handler, type Method, methods } from '../handler.ts'
import type {
  Batch,
  Decoded,
  Id,
  Malformed,
  Message,
  RpcFailure,
  RpcNotification,
  RpcRequest,
  RpcResult,
} from '../message.ts'
import { peerTable } from '../option-table.ts'
import { Drain } from './drain.ts'
import type { Reply } from './exchange.ts'
import { Inbound } from './inbound.ts'
import { type CloseOptions, guarded, type PeerOptions, printError } from './options.ts'
import { type AllOf, type BatchBuilder, Outbound } from './outbound.ts'
import type { ReplyHandler } from './pending.ts'
import { ReadPause } from './read-pause.ts'
import { Refusals } from './refusals.ts'
import { ReplyBatch } from './reply-batch.ts'
import { type SendHandler, SendQueue } from './send-queue.ts'
import {
  BUSY,
  encodableReply,
  INVALID_REQUEST,
  SHUT_DOWN,
  SHUTTING_DOWN,
} from './standard-errors.ts'

/**
 * A JSON-RPC peer: makes and answers calls over one channel, which it opens and closes.
 *
 * Both sides can call each other at any time. A failing handler, malformed input or a stray reply never
 * closes the connection.
 */
export class Peer implements Calls, AsyncDisposable {
  /** Resolves when the connection has closed; with the cause, unless it closed cleanly. */
  readonly closed: Promise<Error | undefined>
  readonly #channel: Channel
  readonly #options: PeerOptions
  readonly #onError: (error: unknown, message?: RpcRequest | RpcNotification) => void
  #received = 0
  readonly #onStray: NonNullable<PeerOptions['onStray']>
  readonly #onMalformedText: NonNullable<PeerOptions['onMalformed']>
  readonly #outbound: Outbound
  readonly #inbound: Inbound
  readonly #settleClosed: (cause: Error | undefined) => void
  #isOpen = true
  #closing: Promise<void> | undefined
  #cause: Error | undefined
  /** Whether a request was executed whose reply the channel did not accept. */
  #hasLostReply = false
  readonly #sendQueue: SendQueue
  readonly #deadlines: Deadlines
  readonly #refusals: Refusals
  readonly #pause: ReadPause
  /** Undefined until the peer closes, and if it does not wait then. */
  #drain: Drain | undefined

  constructor(
    channel: Channel,
    answers: Handler | Readonly<Record<string, Method>> = {},
    options: PeerOptions = {},
  ) {
    checkOptions(options, peerTable)
    this.#channel = channel
    this.#options = options
    this.#onError = guarded(options.onError ?? printError)
    this.#onStray = guarded(options.onStray)
    this.#onMalformedText = guarded(options.onMalformed)
    this.#deadlines = options.deadlines ?? systemDeadlines
    this.#pause = new ReadPause(this.#deadlines)
    this.#refusals = new Refusals(options)
    const host = {
      // A handler may be waiting for this reply, which arrives on the paused channel.
      onBegin: () => this.#pause.end(),
      onAbandoned: (id: Id, why: unknown) => this.#notifyCancelled(id, why),
      onExhausted: () => void this.close(),
    }
    this.#sendQueue = new SendQueue(channel, () => this.#inbound.proceed())
    this.#outbound = new Outbound(channel, this.#sendQueue, host, options)
    this.#inbound = new Inbound({
      handler: typeof answers === 'function' ? answers : methods(answers),
      path: {
        calls: this,
        callsOn: envelope => ({
          call: (method, params, options) => this.#outbound.call(method, params, options, envelope),
          notify: (method, params) => this.#outbound.notify(method, params, envelope),
        }),
        notify: (method, params, envelope) => this.#outbound.notify(method, params, envelope),
      },
      maxInFlight: options.maxInFlight ?? limits.inFlight.default,
      maxQueued: options.maxQueued ?? limits.queued.default,
      channel,
      isCongested: () => this.#sendQueue.isCongested,
      onError: this.#onError,
      toWire: options.toWire ?? errorObject,
      busy: this.#refusals.error(BUSY),
      onChange: () => this.#onChange(),
    })
    const closed = deferred<Error | undefined>()
    this.closed = closed.promise
    this.#settleClosed = closed.resolve
    channel.open({
      receive: (arrival, envelope, bytes) => this.#receive(arrival, envelope, bytes),
      failed: (id, error) => this.#outbound.fail(id, error),
      retired: cause => guarded(this.#options.onRetired)(cause),
      suspended: isSuspended => {
        this.#outbound.suspendTimeouts(isSuspended)
        guarded(this.#options.onSuspended)(isSuspended)
      },
      closed: (cause, isDrained) => this.#onClosed(cause, isDrained === true),
    })
  }

  /** The number of calls that wait for their reply. */
  get pendingCalls(): number {
    return this.#outbound.size
  }

  /**
   * Returns the ids of calls that have been sent and not been answered, to cancel them before closing.
   */
  sentCalls(): Id[] {
    return this.#outbound.sent()
  }

  /**
   * Whether the channel accepted the request of a call. A request that it rejected or returned, or that
   * is still queued, has provably not been executed.
   */
  wasSent(id: Id): boolean {
    return this.#outbound.wasSent(id)
  }

  /** Restarts the timeout of a pending call; 0 disables it. */
  restartTimeout(id: Id, timeoutMs: number): void {
    this.#outbound.restartTimeout(id, timeoutMs)
  }

  /** The number of messages received so far, of any kind; a batch is one. */
  get received(): number {
    return this.#received
  }

  /** The number of incoming requests that have not been answered yet. */
  get inFlight(): number {
    return this.#inbound.size
  }

  /**
   * Calls a method of the peer. Rejects with an RpcError for an error response, with a ChannelError if
   * no reply can arrive or it does not arrive in time, and with the signal's reason.
   */
  call(method: string, params?: object, options?: CallOptions): Promise<unknown> {
    return this.#outbound.call(method, params, options)
  }

  /**
   * Calls a method like `call`, but reports the outcome to `handler` instead of a promise,
   * synchronously when the call settles. Returns the id of the call; undefined if it was rejected at
   * once. `envelope` travels beside the request, on channels that deliver one.
   */
  start(
    handler: ReplyHandler,
    method: string,
    params?: object,
    options?: CallOptions,
    envelope?: Envelope,
  ): Id | undefined {
    return this.#outbound.start(handler, method, params, options, envelope)
  }

  /**
   * Cancels a call made by `start`: its handler is rejected with the reason. Does nothing once it has
   * settled.
   */
  abandon(id: Id, reason: unknown): void {
    this.#outbound.abandon(id, reason)
  }

  /** Sends a notification. A returned promise applies backpressure: await it before sending more. */
  notify(method: string, params?: object): void | Promise<void> {
    return this.#outbound.notify(method, params)
  }

  /**
   * Sends several messages as one batch and settles like `Promise.all` of the array that `build`
   * returns: `await peer.batch(b => [b.call('sum', [1, 2]), b.call('time')])`.
   */
  batch<const T extends readonly unknown[]>(build: (batch: BatchBuilder) => T): Promise<AllOf<T>> {
    return this.#outbound.batch(build)
  }

  /** Cancels an incoming request; returns whether it was in flight. */
  cancel(id: Id, reason: unknown = cancelled()): boolean {
    const { answer, except } = this.#options.cancellation ?? {}
    return this.#inbound.cancel(id, reason, answer, except)
  }

  /**
   * Closes gracefully: new requests are rejected, those in flight are answered within `drainMs` or else
   * refused, pending calls reject, and the channel closes. With 0 it does not wait. With `lingerMs` it
   * rejects new requests until none has arrived for that long, within `drainMs`. Idempotent; never rejects.
   * A later call with another `drainMs` restarts that time.
   */
  close(options: CloseOptions = {}): Promise<void> {
    const { drainMs } = options
    if (this.#closing === undefined) this.#closing = this.#shutDown(options)
    else if (drainMs !== undefined) this.#drain?.restart(drainMs)
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #receive(arrival: Decoded, envelope: Envelope, bytes?: number): void | Promise<void> {
    this.#received++
    switch (arrival.type) {
      case 'request':
        this.#onRequest(arrival, envelope, this.#reply, bytes)
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
    return this.#isOverloaded() ? this.#pause.begin() : undefined
  }

  #onRequest(message: RpcRequest, envelope: Envelope, reply: Reply, bytes?: number): void {
    if (!this.#isOpen) {
      const error = this.#refusals.error(SHUTTING_DOWN)
      reply({ type: 'error', id: message.id, error }, envelope)
    } else if (message.id !== null && this.#inbound.isInFlight(message.id)) {
      // With its own id the response could be mistaken for that of the first request.
      reply(this.#refusals.response(null, INVALID_REQUEST), envelope)
    } else {
      this.#inbound.request(message, envelope, reply, bytes)
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
    const reason = this.#outbound.settle(reply)
    if (reason !== undefined) this.#onStray(reply, reason)
  }

  #onMalformed(what: Malformed, envelope: Envelope, reply: Reply): void {
    if (what.reply) this.#onReply(what)
    else {
      const id = what.id !== null && this.#inbound.isInFlight(what.id) ? null : what.id
      reply(this.#refusals.response(id, what.error), envelope)
    }
    this.#onMalformedText(what)
  }

  #onBatch(batch: Batch, envelope: Envelope): void {
    const { batches = true } = this.#options
    if (!(typeof batches === 'function' ? batches(batch) : batches)) {
      this.#sendReply(this.#refusals.response(null, INVALID_REQUEST), envelope)
      return
    }
    const replies = new ReplyBatch(all => this.#sendReply(all, envelope))
    const nextSlot = (): Reply => {
      const slot = replies.expect()
      return reply => replies.put(slot, reply)
    }
    for (const entry of batch.entries) {
      if (entry.type === 'request') this.#onRequest(entry, envelope, nextSlot())
      else if (entry.type === 'notification') this.#onNotification(entry, envelope)
      else if (entry.type !== 'invalid') this.#onReply(entry)
      else this.#onMalformed(entry, envelope, entry.reply ? this.#reply : nextSlot())
    }
    replies.complete()
  }

  readonly #reply: Reply = (reply, envelope) => {
    if (reply !== undefined) this.#sendReply(reply, envelope)
  }

  #sendReply(reply: Message | readonly Message[], envelope: Envelope): void {
    this.#sendQueue.send(reply, envelope, this.#replies)
  }

  readonly #replies: SendHandler = {
    sendFailed: (error, reply, envelope) => {
      // A channel that has closed in the meantime reports that itself.
      if (!(error instanceof ChannelError) || error.code === 'closed') return
      this.#onError(error)
      if (error.code !== 'unserialisable') {
        this.#hasLostReply = true
        return
      }
      this.#sendQueue.send(encodableReply(reply), envelope, this.#replies)
    },
  }

  /**
   * Never while calls are pending: a handler may wait for one, whose reply arrives on the same channel.
   */
  #isOverloaded(): boolean {
    if (this.#outbound.size > 0) return false
    return this.#inbound.isOverloaded || this.#sendQueue.isCongested
  }

  #onChange(): void {
    if (this.#pause.isPaused && !this.#isOverloaded()) this.#pause.end()
    this.#drain?.onChange()
  }

  #notifyCancelled(id: Id, why: unknown): void {
    const { cancellation } = this.#options
    if (cancellation === undefined) return
    try {
      const params = cancelParams(cancellation, id, why)
      const sent = this.#outbound.notify(cancellation.method, params)
      if (sent !== undefined) sent.then(undefined, () => {})
    } catch {
      // Best effort: the caller has its outcome, and a closed channel needs no cancellation.
    }
  }

  /**
   * The channel delivers nothing more. If the peer can still receive, requests in flight are answered
   * for `disconnectDrainMs`; otherwise they are cancelled.
   */
  #onClosed(cause: Error | undefined, isDrained: boolean): void {
    this.#cause ??= cause
    this.#outbound.close('the connection closed', cause)
    this.#drain?.stopLingering()
    if (cause !== undefined || this.#channel.halfOpen !== true) {
      const reason = cause ?? new ChannelError('closed', 'the peer closed the connection')
      this.#inbound.cancelAll(reason)
    }
    guarded(this.#options.onDisconnect)(cause, isDrained)
    // A close that was requested before keeps its own deadline.
    if (this.#closing === undefined) {
      void this.close({
        drainMs: this.#options.disconnectDrainMs ?? limits.disconnectDrainMs.default,
      })
    }
  }

  async #shutDown({ drainMs = limits.drainMs.default, lingerMs = 0 }: CloseOptions): Promise<void> {
    this.#isOpen = false
    await this.#whenDrained(drainMs, lingerMs)
    const isDrained = this.#inbound.size === 0 && !this.#hasLostReply
    const refusal = this.#refusals.error(SHUT_DOWN)
    this.#inbound.cancelAll(new ChannelError('closed', 'shut down'), refusal)
    this.#outbound.close('the connection was closed before the reply arrived')
    this.#pause.end()
    await this.#channel.close({ isDrained })
    this.#settleClosed(this.#cause)
  }

  #whenDrained(drainMs: number, lingerMs: number): Promise<void> | undefined {
    if (!(drainMs > 0)) return undefined
    this.#drain = new Drain({
      deadlines: this.#deadlines,
      isIdle: () => this.#inbound.size === 0 && this.#sendQueue.size === 0,
      received: () => this.#received,
    })
    return this.#drain.whenDone(drainMs, lingerMs)
  }
}
