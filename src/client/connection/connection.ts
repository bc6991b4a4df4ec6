import { cancelled, cancelWords } from '../../jsonrpc/cancellation.ts'
import { type Channel, ChannelError, type Envelope, type Sink } from '../../jsonrpc/channel.ts'
import type { CallOptions, Exchange } from '../../jsonrpc/handler.ts'
import {
  type Id,
  isList,
  type Message,
  type RpcNotification,
  type RpcRequest,
} from '../../jsonrpc/message.ts'
import type { PeerOptions } from '../../jsonrpc/peer/options.ts'
import type { AllOf, BatchBuilder } from '../../jsonrpc/peer/outbound.ts'
import { Peer } from '../../jsonrpc/peer/peer.ts'
import type { Waiter } from '../../jsonrpc/peer/pending.ts'
import { toWire } from '../../mcp/errors/wire.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { isTimeout, isUnsent } from '../errors.ts'
import { hasBatches, type Settings } from '../settings.ts'

/** What a link tells of what comes from the server. */
export interface LinkHost {
  /** Answers a request of the server. */
  onRequest(request: RpcRequest, exchange: Exchange, link: Link): unknown
  onNotification(notification: RpcNotification, envelope: Envelope, link: Link): void
  /** The connection has ended, and not because this side closed it. */
  onEnded(link: Link, cause: Error | undefined): void
  /** The reply to a request has come that nobody waited for any more; without a result where it failed. */
  onLate?(id: Id, result?: unknown): void
}

/** How a request is sent on a link. */
export interface LinkCallOptions extends CallOptions {
  /** Instead of the next number: so that the ids of later requests begin where servers expect. */
  readonly id?: string
  /** Whether giving up is kept from the server, as it must be for `initialize`. */
  readonly silent?: boolean
}

/** A request on its way. Without an id it never came so far as to have one. */
export interface Begun {
  readonly id: Id | undefined
  readonly reply: Promise<unknown>
  /**
   * Nobody waits any more: what has not left is not sent, and of what has the server is told. The reply
   * may still come, and is late.
   */
  giveUp(reason: unknown): void
}

/**
 * One connection to a server, from dialling to its end. Knows ids and cancellation; does not know what
 * is being said.
 */
export class Link {
  /** What is spoken on it; undefined until that is settled. */
  revision: Revision | undefined
  readonly #wire: Wire
  readonly #peer: Peer
  readonly #host: LinkHost
  /** Requests of the server that are being answered. */
  readonly #questions = new Set<Id>()
  #lastNumber = 0
  #wantedId: string | undefined
  #givenId: Id | undefined
  #isLeaving = false
  #hasEnded = false
  /** Whether it has ended, and not because this side closed it. */
  #isLost = false

  constructor(channel: Channel, host: LinkHost, settings: Settings) {
    this.#host = host
    this.#wire = new Wire(channel, cause => this.#onClosed(cause))
    this.#peer = new Peer(
      this.#wire,
      (message, exchange) => this.#onMessage(message, exchange),
      this.#peerOptions(settings),
    )
  }

  get isOpen(): boolean {
    return !this.#hasEnded && !this.#isLeaving
  }

  /**
   * Whether each request has a stream of its own: then a failure of the way is told apart from what the
   * server says, and one request may fail while the others go on.
   */
  get hasStreams(): boolean {
    return this.#wire.abandon !== undefined
  }

  /**
   * Sends a request. The reply rejects with the ChannelError `'outcome-unknown'` when the connection
   * ended before it came, and with `'closed'` when the request was never sent or this side closed.
   * A request given up is cancelled on the server too, by a notification that nobody waits for.
   */
  begin(method: string, params?: object, options: LinkCallOptions = {}): Begun {
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
      if (this.#wire.hasSent(id)) this.#tellCancelled(id, reason)
      else this.#wire.withhold(id)
      // A server that heeds this never answers: the place would be kept for as long as the connection.
      this.#peer.abandon(id, reason)
    }
    return { id, reply, giveUp }
  }

  /**
   * The same for whoever has no use for a promise: tells `waiter` instead, inside whatever settles the
   * request, and of a failure before it is known what it means. Gives the id; none where it was refused
   * at once. One that fails has to be explained by `failure`, not before the next microtask.
   */
  start(waiter: Waiter, method: string, params?: object, options?: CallOptions): Id | undefined {
    this.#wantedId = undefined
    return this.#peer.start(waiter, method, params, options)
  }

  /**
   * Nobody waits any more for a request that was started: its waiter is told the reason, and the server
   * that it is cancelled.
   */
  abandon(id: Id, reason: unknown): void {
    const isSent = this.#wire.hasSent(id)
    this.#peer.abandon(id, reason)
    if (isSent) this.#tellCancelled(id, reason)
    else this.#wire.withhold(id)
  }

  /** What a failed request rejects with. The server is told of one that was given up. */
  failure(error: unknown, method: string, id: Id | undefined, options: LinkCallOptions): unknown {
    const isSent = id !== undefined && this.#wire.hasSent(id)
    if (isSent && !options.silent) this.#cancelIfGivenUp(id, error, options.signal)
    return this.#explain(error, method, isSent)
  }

  /** The same for those who only want the reply. */
  call(method: string, params?: object, options: LinkCallOptions = {}): Promise<unknown> {
    this.#wantedId = options.id
    this.#givenId = undefined
    const reply = this.#peer.call(method, params, options)
    return this.#watch(reply, method, this.#givenId, options)
  }

  /** Sends a notification, if there is still anybody to hear it. */
  notify(method: string, params?: object): void {
    const room = this.#peer.notify(method, params)
    if (room !== undefined) room.then(undefined, () => {})
  }

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

  /** Gives up answering a request of the server, which may have said why. */
  cancel(id: Id, words?: unknown): void {
    this.#peer.cancel(id, cancelled(words))
  }

  /** To be called by whoever finds that nothing can be sent any more, should nobody else have. */
  lose(cause: Error): void {
    this.#onClosed(cause)
  }

  /**
   * Ends the connection at once: the server is told that nobody waits for its replies, and questions
   * being answered are cut. Idempotent; never rejects.
   */
  close(): Promise<void> {
    this.#cancelAll()
    this.#isLeaving = true
    return this.#cut()
  }

  #peerOptions(settings: Settings): PeerOptions {
    const { profile, deadlines, timeoutMs, onError } = settings
    return {
      deadlines,
      timeoutMs,
      onError,
      makeId: () => this.#nextId(),
      // The revision is settled only after the peer exists, so all of these ask for it each time.
      batches: () => hasBatches(profile, this.revision),
      toWire: error => toWire(error, { profile, revision: this.revision }),
      fromWire: error => settings.fromWire(error, this.revision),
      onStray: (reply, why) => {
        if (why !== 'late' || reply.id === null) return
        this.#host.onLate?.(reply.id, reply.type === 'result' ? reply.result : undefined)
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
    options: LinkCallOptions,
  ): Promise<unknown> {
    return reply.then(undefined, error => {
      throw this.failure(error, method, id, options)
    })
  }

  #onMessage(message: RpcRequest | RpcNotification, exchange: Exchange): unknown {
    if (message.type === 'notification') {
      this.#host.onNotification(message, exchange.envelope, this)
      return undefined
    }
    const { id } = message
    const answer = this.#host.onRequest(message, exchange, this)
    if (!(answer instanceof Promise) || id === null) return answer
    this.#questions.add(id)
    return answer.finally(() => this.#questions.delete(id))
  }

  /** Ends at once: what the server asked is of no use to it any more, so nothing is waited for. */
  #cut(): Promise<void> {
    for (const id of this.#questions) this.#peer.cancel(id)
    return this.#peer.close({ drainMs: 0 })
  }

  #onClosed(cause: Error | undefined): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    if (this.#isLeaving) return
    this.#isLost = true
    void this.#cut()
    this.#host.onEnded(this, cause)
  }

  /** A server that only sees the end may go on with what it was asked, and a child stay for it. */
  #cancelAll(): void {
    // What settles the revision is never cancelled.
    if (!this.isOpen || this.revision === undefined) return
    // With the channel all answers are left, which is the cancellation.
    if (this.revision.era === 'stateless' && this.hasStreams) return
    try {
      for (const id of this.#peer.sentCalls()) this.#tellCancelled(id, 'the client has closed')
    } catch {
      // A courtesy. A connection that takes nothing any more ends all the same.
    }
  }

  #cancelIfGivenUp(id: Id, error: unknown, signal: AbortSignal | undefined): void {
    if (isTimeout(error) || (signal?.aborted && signal.reason === error)) {
      this.#tellCancelled(id, error)
    }
  }

  #tellCancelled(id: Id, why: unknown): void {
    if (!this.isOpen) return
    // Where each stateless request has a stream of its own, leaving that stream is the cancellation.
    if (this.revision?.era === 'stateless' && this.#wire.abandon !== undefined) {
      this.#wire.abandon(id)
      return
    }
    this.notify('notifications/cancelled', { requestId: id, reason: cancelWords(why) })
  }

  #explain(error: unknown, method: string, isSent: boolean): unknown {
    if (!(error instanceof ChannelError) || error.code !== 'closed') return error
    if (!isSent || !this.#isLost) return error
    const what = `${method}: the connection ended before the reply came; it may have been carried out`
    return new ChannelError('outcome-unknown', what, { cause: error.cause ?? error })
  }
}

/** A channel that knows which requests it was handed, and tells of its end at once. */
class Wire implements Channel {
  readonly abandon?: (id: Id) => void
  readonly halfOpen: boolean | undefined
  readonly #channel: Channel
  readonly #onClosed: (cause: Error | undefined) => void
  readonly #withheld = new Set<Id>()
  /** Requests that the channel took and could not deliver. Few: the next thing is a new connection. */
  readonly #returned = new Set<Id>()
  #lastNumber = 0

  constructor(channel: Channel, onClosed: (cause: Error | undefined) => void) {
    this.#channel = channel
    this.#onClosed = onClosed
    this.halfOpen = channel.halfOpen
    if (channel.abandon !== undefined) this.abandon = id => channel.abandon?.(id)
  }

  /**
   * Whether a request has been taken: one that was refused, or never came so far, has provably not been
   * carried out. Numbers leave in order, so that the last one tells of all before it.
   */
  hasSent(id: Id): boolean {
    return !this.#returned.has(id) && (typeof id === 'string' || id <= this.#lastNumber)
  }

  /** Keeps back a request that waits for room. */
  withhold(id: Id): void {
    this.#withheld.add(id)
  }

  open(sink: Sink): void {
    this.#channel.open({
      receive: (arrival, envelope) => sink.receive(arrival, envelope),
      failed: (id, error) => {
        if (isUnsent(error)) this.#returned.add(id)
        sink.failed?.(id, error)
      },
      closed: cause => {
        sink.closed(cause)
        this.#onClosed(cause)
      },
    })
  }

  send(message: Message | readonly Message[], envelope?: Envelope): void | Promise<void> {
    if (this.#isWithheld(message)) return undefined
    const room = this.#channel.send(message, envelope)
    if (isList(message)) for (const one of message) this.#note(one)
    else this.#note(message)
    return room
  }

  #isWithheld(message: Message | readonly Message[]): boolean {
    if (this.#withheld.size === 0 || isList(message) || message.type !== 'request') return false
    return message.id !== null && this.#withheld.delete(message.id)
  }

  #note(message: Message): void {
    if (message.type === 'request' && typeof message.id === 'number') this.#lastNumber = message.id
  }

  close(): Promise<void> {
    return this.#channel.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
