import { cancelled, cancelReason } from '../../jsonrpc/cancellation.ts'
import { type Channel, ChannelError, type Envelope } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { CallOptions, Exchange } from '../../jsonrpc/handler.ts'
import type { Id, RpcNotification, RpcRequest } from '../../jsonrpc/message.ts'
import type { PeerOptions } from '../../jsonrpc/peer/options.ts'
import type { AllOf, BatchBuilder } from '../../jsonrpc/peer/outbound.ts'
import { Peer } from '../../jsonrpc/peer/peer.ts'
import type { ReplyHandler } from '../../jsonrpc/peer/pending.ts'
import { isShuttingDown } from '../../jsonrpc/peer/standard-errors.ts'
import { toWire } from '../../mcp/errors/wire.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { isTimeout } from '../errors.ts'
import { hasBatches, type Settings } from '../settings.ts'

/** Receives what a connection gets from the server. */
export interface ConnectionHandlers {
  /** Handles a request of the server and returns its result. */
  onRequest(request: RpcRequest, exchange: Exchange, connection: Connection): unknown
  onNotification(notification: RpcNotification, envelope: Envelope, connection: Connection): void
  /** The connection was closed or retired, and not because this client closed it. */
  onLost(connection: Connection, cause: Error | undefined): void
  /** Requests wait for this client, for a login for example, or do so no more. */
  onSuspended?(isSuspended: boolean): void
  /** A response arrived for a request that was abandoned; `result` is undefined if the request failed. */
  onLate?(id: Id, result?: unknown): void
}

/** Options of a request on a connection. */
export interface ConnectionCallOptions extends CallOptions {
  /** An id to use instead of the next number, so that the ids of later requests start at 1. */
  readonly id?: string
  /** Suppresses `notifications/cancelled` when the request is given up, as `initialize` requires. */
  readonly silent?: boolean
}

/** A request in flight. `id` is undefined if the request failed before it got one. */
export interface StartedCall {
  readonly id: Id | undefined
  readonly reply: Promise<unknown>
  /**
   * Gives the request up. If it has not been sent yet, it never will be; otherwise it is cancelled on the
   * server. A response that still arrives is reported to `onLate`.
   */
  giveUp(reason: unknown): void
}

/**
 * One connection to a server, from the open channel until it closes. Assigns request ids and cancels
 * requests; does not depend on the methods that are called.
 */
export class Connection {
  /** The negotiated protocol revision; undefined until negotiation is done. */
  revision: Revision | undefined
  readonly #channel: Channel
  readonly #peer: Peer
  readonly #handlers: ConnectionHandlers
  /** The ids of server requests in flight. */
  readonly #serverRequests = new Set<Id>()
  #lastNumber = 0
  #wantedId: string | undefined
  #givenId: Id | undefined
  #isClosing = false
  #isClosed = false
  #isRetired = false
  /** Whether the connection closed while the server may have been executing requests. */
  #isLost = false

  constructor(channel: Channel, handlers: ConnectionHandlers, settings: Settings) {
    this.#handlers = handlers
    this.#channel = channel
    this.#peer = new Peer(
      channel,
      (message, exchange) => this.#onMessage(message, exchange),
      this.#peerOptions(settings),
    )
  }

  get isOpen(): boolean {
    return !this.#isClosed && !this.#isClosing && !this.#isRetired
  }

  /** Whether the connection takes no more requests, while those in flight may still be answered. */
  get isRetired(): boolean {
    return this.#isRetired && !this.#isClosed && !this.#isClosing
  }

  /** The number of messages received so far, of any kind. */
  get received(): number {
    return this.#peer.received
  }

  /** Settles when the connection has closed, with the cause, if any. */
  get closed(): Promise<Error | undefined> {
    return this.#peer.closed
  }

  /**
   * Whether each request has a stream of its own, as over HTTP. Then transport failures can be
   * distinguished from errors of the server, and one request may fail while the others go on.
   */
  get hasStreams(): boolean {
    return this.#channel.abandon !== undefined
  }

  /**
   * Sends a request. The reply rejects with the ChannelError `'outcome-unknown'` if the connection closed
   * before the response arrived, and with `'closed'` if the request was never sent, the server did not begin
   * it because it is closing, or this client closed the connection. A request that is given up is also cancelled on the server, by a notification.
   */
  begin(method: string, params?: object, options: ConnectionCallOptions = {}): StartedCall {
    this.#wantedId = options.id
    this.#givenId = undefined
    const call = this.#peer.call(method, params, options)
    const id = this.#givenId
    let isGivenUp = false
    const reply = this.#watch(call, method, id, {
      signal: options.signal,
      get silent() {
        return isGivenUp || options.silent
      },
    })
    const giveUp = (reason: unknown) => {
      if (isGivenUp) return
      isGivenUp = true
      if (id === undefined) return
      if (this.#peer.wasSent(id)) this.#sendCancelled(id, reason)
      // A server that honors the cancellation never responds: the entry would stay until the connection closes.
      this.#peer.abandon(id, reason)
    }
    return { id, reply, giveUp }
  }

  /**
   * Sends a request without making a promise: calls `handler` synchronously when the request settles.
   * Returns the id; undefined if the request was refused at once. An error passed to `handler` is raw:
   * pass it to `failure`, not before the next microtask, to get what the request rejects with.
   */
  start(
    handler: ReplyHandler,
    method: string,
    params?: object,
    options?: CallOptions,
    envelope?: Envelope,
  ): Id | undefined {
    this.#wantedId = undefined
    return this.#peer.start(handler, method, params, options, envelope)
  }

  /** Gives up a request that was sent with `start`: rejects its handler and cancels it on the server. */
  abandon(id: Id, reason: unknown): void {
    const isSent = this.#peer.wasSent(id)
    this.#peer.abandon(id, reason)
    if (isSent) this.#sendCancelled(id, reason)
  }

  /** Restarts the deadline of a request that waits for its reply; with 0 the request has none. */
  restartTimeout(id: Id, timeoutMs: number): void {
    this.#peer.restartTimeout(id, timeoutMs)
  }

  /** Returns what a failed request rejects with. Cancels the request on the server if it was given up. */
  failure(
    error: unknown,
    method: string,
    id: Id | undefined,
    options: ConnectionCallOptions,
  ): unknown {
    const isSent = id !== undefined && this.#peer.wasSent(id)
    if (isSent && !options.silent) this.#cancelIfGivenUp(id, error, options.signal)
    return this.#explain(error, method, isSent)
  }

  /** Sends a request and settles with its reply. Rejects as `begin` does. */
  call(method: string, params?: object, options: ConnectionCallOptions = {}): Promise<unknown> {
    this.#wantedId = options.id
    this.#givenId = undefined
    const reply = this.#peer.call(method, params, options)
    return this.#watch(reply, method, this.#givenId, options)
  }

  /** Sends a notification. Does nothing once the connection has closed. */
  notify(method: string, params?: object): void {
    const flushed = this.#peer.notify(method, params)
    if (flushed !== undefined) flushed.then(undefined, () => {})
  }

  /** Sends the calls that `build` makes as one batch. */
  batch<const T extends readonly unknown[]>(build: (batch: BatchBuilder) => T): Promise<AllOf<T>> {
    return this.#peer.batch(batch =>
      build({
        call: (method, params, options = {}) => {
          this.#givenId = undefined
          const reply = batch.call(method, params, options)
          return this.#watch(reply, method, this.#givenId, options)
        },
        notify: (method, params) => batch.notify(method, params),
      }),
    )
  }

  /** Aborts the handler of a server request, with the reason that the server gave, if any. */
  cancel(id: Id, reason?: unknown): void {
    this.#peer.cancel(id, cancelled(reason))
  }

  /** Marks the connection as lost, when a caller finds that nothing can be sent on it any more. Idempotent. */
  lose(cause: Error): void {
    this.#onClosed(cause)
  }

  /**
   * Closes the connection at once: cancels the requests in flight on the server, and aborts the handlers
   * of server requests. Idempotent; never rejects.
   */
  close(): Promise<void> {
    this.#cancelAll()
    this.#isClosing = true
    return this.#abort()
  }

  #peerOptions(settings: Settings): PeerOptions {
    const { profile, deadlines, timeoutMs, onError } = settings
    return {
      deadlines,
      timeoutMs,
      onError,
      makeId: () => this.#nextId(),
      onDisconnect: (cause, isDrained) => this.#onClosed(cause, isDrained),
      onRetired: cause => this.#onRetired(cause),
      onSuspended: isSuspended => this.#handlers.onSuspended?.(isSuspended),
      // The revision is negotiated only after the peer exists, so each of these reads it every time.
      batches: () => hasBatches(profile, this.revision),
      toWire: error => toWire(error, { profile, revision: this.revision }),
      fromWire: error => settings.fromWire(error, this.revision),
      onStray: (reply, why) => {
        if (why !== 'late' || reply.id === null) return
        this.#handlers.onLate?.(reply.id, reply.type === 'result' ? reply.result : undefined)
      },
    }
  }

  #nextId(): Id {
    const id = this.#wantedId ?? ++this.#lastNumber
    this.#wantedId = undefined
    this.#givenId = id
    return id
  }

  #watch(
    reply: Promise<unknown>,
    method: string,
    id: Id | undefined,
    options: ConnectionCallOptions,
  ): Promise<unknown> {
    return reply.then(undefined, error => {
      throw this.failure(error, method, id, options)
    })
  }

  #onMessage(message: RpcRequest | RpcNotification, exchange: Exchange): unknown {
    if (message.type === 'notification') {
      this.#handlers.onNotification(message, exchange.envelope, this)
      return undefined
    }
    const { id } = message
    const answer = this.#handlers.onRequest(message, exchange, this)
    if (!(answer instanceof Promise) || id === null) return answer
    this.#serverRequests.add(id)
    return answer.finally(() => this.#serverRequests.delete(id))
  }

  /** Closes without waiting for server requests in flight: their results are of no use any more. */
  #abort(): Promise<void> {
    for (const id of this.#serverRequests) this.#peer.cancel(id)
    return this.#peer.close({ drainMs: 0 })
  }

  #onRetired(cause: Error): void {
    if (!this.isOpen) return
    this.#isRetired = true
    this.#handlers.onLost(this, cause)
  }

  #onClosed(cause: Error | undefined, isDrained = false): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#isClosing) return
    this.#isLost = !isDrained
    void this.#abort()
    if (!this.#isRetired) this.#handlers.onLost(this, cause)
  }

  /**
   * Cancels all requests in flight. A server that only sees the connection close may go on working on
   * them, and a child process may stay alive for that.
   */
  #cancelAll(): void {
    // The requests of the negotiation are never cancelled.
    if (!this.isOpen || this.revision === undefined) return
    // Closing the channel closes all response streams, which is the cancellation.
    if (this.revision.features.cancellation === 'stream' && this.hasStreams) return
    try {
      for (const id of this.#peer.sentCalls()) this.#sendCancelled(id, 'the client has closed')
    } catch {
      // Best effort: a connection that cannot send any more closes all the same.
    }
  }

  #cancelIfGivenUp(id: Id, error: unknown, signal: AbortSignal | undefined): void {
    if (isTimeout(error) || (signal?.aborted && signal.reason === error)) {
      this.#sendCancelled(id, error)
    }
  }

  #sendCancelled(id: Id, why: unknown): void {
    // The server that works on it gets no more messages of this session.
    if (this.isRetired) this.#channel.abandon?.(id)
    if (!this.isOpen) return
    const cancellation = this.revision?.features.cancellation
    // Where each request has a stream of its own, closing that stream is the cancellation.
    if (cancellation === 'stream' && this.#channel.abandon !== undefined) {
      this.#channel.abandon(id)
      return
    }
    this.notify('notifications/cancelled', { requestId: id, reason: cancelReason(why) })
  }

  #explain(error: unknown, method: string, isSent: boolean): unknown {
    if (error instanceof RpcError && isShuttingDown(error)) {
      const closing = new ChannelError('closed', `${method}: ${error.message}`, { cause: error })
      this.#onRetired(closing)
      return closing
    }
    if (!(error instanceof ChannelError) || error.code !== 'closed') return error
    if (!isSent || !this.#isLost) return error
    const what = `${method}: the connection closed before the response arrived; the request may have been executed`
    return new ChannelError('outcome-unknown', what, { cause: error.cause ?? error })
  }
}
