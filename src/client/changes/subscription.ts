import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Id } from '../../jsonrpc/message.ts'
import { listFilter, listFilterMembers } from '../../mcp/list-changes.ts'
import type { SubscriptionFilter } from '../../mcp/types/subscriptions.ts'
import { type Deferred, deferred } from '../../util/promises.ts'
import { timed } from '../../util/time/deadline.ts'
import type { ConnectionCallOptions, StartedCall } from '../connection/connection.ts'
import type { Negotiated } from '../connection/negotiate.ts'
import { reconnectDelayMs } from '../connection/reconnect.ts'
import { isLost, isUnsent, refused } from '../errors.ts'
import type { Settings } from '../settings.ts'
import { ChangeQueue } from './change-queue.ts'
import { type Change, type ChangeFilter, missingIn, wireFilter } from './changes.ts'
import type { SessionSubscriptions } from './session-subscriptions.ts'

/** A subscription to changes, to iterate over. Leaving the loop unsubscribes. */
export interface Changes extends AsyncIterableIterator<Change, undefined>, AsyncDisposable {
  /**
   * Settles when the subscription is active, with the part of the filter that the server supports. Rejects
   * if the server refuses it. It need not be awaited.
   */
  readonly ready: Promise<SubscriptionFilter>
  /** Unsubscribes and ends the loop, if there is one. */
  return(): Promise<IteratorResult<Change, undefined>>
}

/** What a change subscription needs from its client. */
export interface SubscriptionHost {
  readonly settings: Settings
  readonly sessionSubscriptions: SessionSubscriptions
  /** Returns the connection, as soon as there is one. */
  opened(): Promise<Negotiated>
  /** Settles when the server has received everything that was sent before. Never rejects. */
  confirm(): Promise<void>
  /** Whether the client is closed. */
  isClosed(): boolean
  /** Sends a request that its caller manages: it is not retried. */
  begin(
    opened: Negotiated,
    method: string,
    params: object,
    options: ConnectionCallOptions,
  ): StartedCall
  /** Routes the notifications of a listen request to a subscription; undefined removes the route. */
  claim(id: Id, subscription: ChangeSubscription | undefined): void
  /** The subscription has ended. */
  onEnded(subscription: ChangeSubscription): void
}

/** One subscription to changes, in any revision. It survives reconnects. */
export class ChangeSubscription implements Changes {
  /** The requested filter. */
  readonly filter: SubscriptionFilter
  readonly #host: SubscriptionHost
  readonly #queue = new ChangeQueue()
  readonly #ready: Deferred<SubscriptionFilter>
  readonly #signal: AbortSignal | undefined
  readonly #retry = timed(() => void this.attach())
  /** The resources that this subscription has subscribed its session to. */
  #uris: readonly string[] = []
  #stream: Stream | undefined
  /** `ready`, once it is awaited. */
  #confirmed: Promise<SubscriptionFilter> | undefined
  #isReady = false
  #hasEnded = false
  #attempts = 0
  #ends = 0
  #since = 0

  constructor(host: SubscriptionHost, filter: ChangeFilter, signal?: AbortSignal) {
    this.#host = host
    this.filter = wireFilter(filter)
    this.#ready = deferred()
    this.#ready.promise.then(undefined, () => {})
    this.#signal = signal
    if (signal?.aborted) this.#unsubscribe()
    else signal?.addEventListener('abort', this.#unsubscribe, { once: true })
  }

  get ready(): Promise<SubscriptionFilter> {
    if (this.#confirmed === undefined) {
      this.#confirmed = this.#confirm()
      this.#confirmed.then(undefined, () => {})
    }
    return this.#confirmed
  }

  /** Whether there will be no more changes. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Whether notifications for this subscription carry no subscription id, as in sessions. */
  get isUntagged(): boolean {
    return this.#stream === undefined
  }

  /** Subscribes on the current or the next connection. Called again after each reconnect. */
  async attach(): Promise<void> {
    if (this.#hasEnded) return
    const attempt = ++this.#attempts
    const isStale = () => this.#hasEnded || attempt !== this.#attempts
    this.#host.settings.deadlines.stop(this.#retry)
    this.#detach()
    try {
      const opened = await this.#host.opened()
      if (isStale()) return
      const { subscriptions } = opened.server.revision.features
      const acknowledged = await (subscriptions === 'session'
        ? this.#subscribe(opened)
        : this.#listen(opened))
      if (!isStale()) this.#onAttached(acknowledged)
    } catch (error) {
      // After a lost connection the client reconnects and calls attach again.
      if (!isStale() && (!isGone(error) || this.#host.isClosed())) this.fail(error)
    }
  }

  /** Passes a change to the reader. */
  push(change: Change): void {
    this.#queue.push(change)
  }

  /** The server has acknowledged the subscription, with the part of the filter that it supports. */
  onAcknowledged(filter: SubscriptionFilter): void {
    this.#stream?.acknowledged.resolve(filter)
  }

  /** The server has ended the stream; subscribes again after a delay. */
  onEnded(): void {
    const stream = this.#stream
    if (this.#hasEnded || stream === undefined) return
    stream.hasEnded = true
    stream.acknowledged.reject(new ChannelError('closed', 'the server ended the subscription'))
    this.#detach()
    const { reconnect, clock, deadlines } = this.#host.settings
    if (this.#isReady && clock.now() - this.#since >= reconnect.stableMs) this.#ends = 0
    if (this.#ends >= reconnect.attempts) {
      this.#end(() => this.#queue.end())
      this.#ready.reject(new ChannelError('closed', 'the server ended the subscription'))
      return
    }
    deadlines.start(this.#retry, reconnectDelayMs(this.#ends++ + 1, reconnect))
  }

  /** Ends the subscription; with an error, the reader gets it. */
  fail(error?: unknown): void {
    this.#end(() => this.#queue.end(error))
    this.#ready.reject(error ?? new ChannelError('closed', 'the client is closed'))
  }

  next(): Promise<IteratorResult<Change, undefined>> {
    return this.#queue.next()
  }

  return(): Promise<IteratorResult<Change, undefined>> {
    this.#unsubscribe()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe()
  }

  readonly #unsubscribe = (): void => {
    this.#end(() => this.#queue.drop())
    this.#ready.reject(
      this.#signal?.reason ?? new ChannelError('closed', 'the subscription was closed'),
    )
  }

  /**
   * In a session, list changes are sent without a request, but not before the server has got
   * `notifications/initialized`. A response to a later request shows that it has.
   */
  async #confirm(): Promise<SubscriptionFilter> {
    const acknowledged = await this.#ready.promise
    if (this.#stream === undefined && this.#uris.length === 0 && !this.#hasEnded) {
      await this.#host.confirm()
    }
    return acknowledged
  }

  #onAttached(acknowledged: SubscriptionFilter): void {
    const missing = missingIn(this.filter, acknowledged)
    if (this.#host.settings.strict && missing !== undefined) {
      throw refused('changes', `the server does not support ${missing}`)
    }
    this.#since = this.#host.settings.clock.now()
    if (this.#isReady) this.push({ type: 'reconnected' })
    this.#isReady = true
    this.#ready.resolve(acknowledged)
  }

  /** In a session, list changes are always sent; only resources are subscribed to, one by one. */
  async #subscribe({ server }: Negotiated): Promise<SubscriptionFilter> {
    const { capabilities } = server
    const { taskIds, resourceSubscriptions = [] } = this.filter
    const uris = capabilities.resources?.subscribe ? resourceSubscriptions : []
    await this.#watch(uris)
    return {
      ...listFilter(
        kind =>
          this.filter[listFilterMembers[kind]] === true && capabilities[kind]?.listChanged === true,
      ),
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
      ...(taskIds !== undefined && capabilities.tasks !== undefined && { taskIds }),
    }
  }

  /** Changes the resources that the session is subscribed to for this subscription to exactly these. */
  async #watch(uris: readonly string[]): Promise<void> {
    const { sessionSubscriptions } = this.#host
    const before = this.#uris
    this.#uris = uris
    for (const uri of before) {
      if (!uris.includes(uri)) sessionSubscriptions.remove(uri).then(undefined, () => {})
    }
    const subscribed = uris.map(uri =>
      before.includes(uri) ? sessionSubscriptions.ensure(uri) : sessionSubscriptions.add(uri),
    )
    await Promise.all(subscribed)
  }

  /** In stateless revisions, one request subscribes to everything, and stays open for the life of the subscription. */
  async #listen(opened: Negotiated): Promise<SubscriptionFilter> {
    await this.#watch([])
    const stop = new AbortController()
    const acknowledged = deferred<SubscriptionFilter>()
    const stream: Stream = { id: undefined, stop, acknowledged, hasEnded: false }
    this.#stream = stream
    const params = { notifications: this.filter }
    const { id, reply } = this.#host.begin(opened, 'subscriptions/listen', params, {
      signal: stop.signal,
      timeoutMs: 0,
      // No cancellation for a stream that the server has ended.
      get silent() {
        return stream.hasEnded
      },
    })
    stream.id = id
    if (id !== undefined) this.#host.claim(id, this)
    reply.then(
      () => this.#stream === stream && this.onEnded(),
      error => this.#onStreamFailed(stream, error, opened.connection.isOpen),
    )
    const { deadlines, timeoutMs } = this.#host.settings
    const late = timed(() => {
      const error = new ChannelError('timeout', 'subscriptions/listen: not acknowledged in time')
      acknowledged.reject(error)
      stop.abort(error)
    })
    if (timeoutMs > 0) deadlines.start(late, timeoutMs)
    try {
      return await acknowledged.promise
    } finally {
      deadlines.stop(late)
    }
  }

  #onStreamFailed(stream: Stream, error: unknown, isConnected: boolean): void {
    if (this.#stream === stream && isConnected && isGone(error)) {
      // Only this stream broke or could not be opened, so there will be no reconnect that restores it.
      this.onEnded()
      return
    }
    stream.acknowledged.reject(error)
    if (this.#stream !== stream) return
    // Before the acknowledgement, `attach` handles the error.
    if (this.#isReady && !isGone(error)) this.fail(error)
  }

  /** Closes the stream of the listen request, if there is one. */
  #detach(): void {
    const stream = this.#stream
    if (stream === undefined) return
    this.#stream = undefined
    if (stream.id !== undefined) this.#host.claim(stream.id, undefined)
    stream.stop.abort('the client has unsubscribed')
  }

  #end(end: () => void): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#signal?.removeEventListener('abort', this.#unsubscribe)
    this.#host.settings.deadlines.stop(this.#retry)
    this.#detach()
    void this.#watch([])
    end()
    this.#host.onEnded(this)
  }
}

interface Stream {
  id: Id | undefined
  /** Whether the server ended the stream. */
  hasEnded: boolean
  /** Aborts the request, which cancels it on the server. */
  readonly stop: AbortController
  readonly acknowledged: Deferred<SubscriptionFilter>
}

/** Whether the connection was lost, before or after the request was sent. */
function isGone(error: unknown): boolean {
  return isLost(error) || isUnsent(error)
}
