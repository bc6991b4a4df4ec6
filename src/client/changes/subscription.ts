import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Id } from '../../jsonrpc/message.ts'
import type { SubscriptionFilter } from '../../mcp/types/subscriptions.ts'
import { type Deferred, deferred } from '../../util/deferred.ts'
import { timed } from '../../util/time/deadline.ts'
import type { Begun, LinkCallOptions } from '../connection/connection.ts'
import type { Opened } from '../connection/negotiate.ts'
import { backoffMs } from '../connection/reconnect.ts'
import { isLost, isUnsent, refused } from '../errors.ts'
import type { Settings } from '../settings.ts'
import { ChangeQueue } from './change-queue.ts'
import { type Change, type ChangeFilter, missingIn, wireFilter } from './changes.ts'
import type { Subscribed } from './session-subscriptions.ts'

/** Changes as they come. Leaving the loop ends the subscription. */
export interface Changes extends AsyncIterableIterator<Change, undefined>, AsyncDisposable {
  /**
   * Settles when changes will be told from now on, with what the server will tell of what was asked.
   * Rejects when it will not tell any. Nobody has to wait for it.
   */
  readonly ready: Promise<SubscriptionFilter>
  /** Ends it; the loop, if there is one, is left. */
  return(): Promise<IteratorResult<Change, undefined>>
}

/** What one stream of changes needs from its client. */
export interface ListeningHost {
  readonly settings: Settings
  readonly subscribed: Subscribed
  /** The connection, as soon as there is one. */
  opened(): Promise<Opened>
  /** Whether there will be none any more. */
  isClosed(): boolean
  /** Sends a request that its caller looks after itself. */
  begin(opened: Opened, method: string, params: object, options: LinkCallOptions): Begun
  /** Which stream the notifications of a listen request belong to; undefined forgets. */
  claim(id: Id, listening: Listening | undefined): void
  onLeft(listening: Listening): void
}

/** One stream of changes, over as many connections as it takes, in either era. */
export class Listening implements Changes {
  readonly ready: Promise<SubscriptionFilter>
  /** What was asked for. */
  readonly filter: SubscriptionFilter
  readonly #host: ListeningHost
  readonly #queue = new ChangeQueue()
  readonly #ready: Deferred<SubscriptionFilter>
  readonly #signal: AbortSignal | undefined
  readonly #retry = timed(() => void this.attach())
  /** The resources this stream has its session subscribed to. */
  #uris: readonly string[] = []
  #stream: Stream | undefined
  #isReady = false
  #isOver = false
  #attempts = 0
  #ends = 0
  #since = 0

  constructor(host: ListeningHost, filter: ChangeFilter, signal?: AbortSignal) {
    this.#host = host
    this.filter = wireFilter(filter)
    this.#ready = deferred()
    this.ready = this.#ready.promise
    this.ready.then(undefined, () => {})
    this.#signal = signal
    if (signal?.aborted) this.#leave()
    else signal?.addEventListener('abort', this.#leave, { once: true })
  }

  /** Whether nothing will come any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether changes come without being tagged as this stream's. */
  get isUntagged(): boolean {
    return this.#stream === undefined
  }

  /** Subscribes, on the connection there is or the next one; also again, when one was lost. */
  async attach(): Promise<void> {
    if (this.#isOver) return
    const attempt = ++this.#attempts
    const isStale = () => this.#isOver || attempt !== this.#attempts
    this.#host.settings.deadlines.stop(this.#retry)
    this.#detach()
    try {
      const opened = await this.#host.opened()
      if (isStale()) return
      const isSession = opened.server.revision.era === 'session'
      const given = await (isSession ? this.#subscribe(opened) : this.#listen(opened))
      if (!isStale()) this.#onAttached(given)
    } catch (error) {
      // A lost connection is opened again, and then this is tried again.
      if (!isStale() && (!isGone(error) || this.#host.isClosed())) this.fail(error)
    }
  }

  push(change: Change): void {
    this.#queue.push(change)
  }

  /** The server tells what it will tell. */
  onAcknowledged(given: SubscriptionFilter): void {
    this.#stream?.acknowledged.resolve(given)
  }

  /** The server ended the stream in good order, and may be ready for another. */
  onEnded(): void {
    const stream = this.#stream
    if (this.#isOver || stream === undefined) return
    stream.hasEnded = true
    stream.acknowledged.reject(new ChannelError('closed', 'the server ended the subscription'))
    this.#detach()
    const { restart, clock, deadlines } = this.#host.settings
    if (this.#isReady && clock.now() - this.#since >= restart.steadyMs) this.#ends = 0
    if (this.#ends >= restart.attempts) {
      this.#over(() => this.#queue.end())
      this.#ready.reject(new ChannelError('closed', 'the server ended the subscription'))
      return
    }
    deadlines.start(this.#retry, backoffMs(this.#ends++ + 1, restart))
  }

  /** There will be no more: for good, or because of an error that the reader gets. */
  fail(error?: unknown): void {
    this.#over(() => this.#queue.end(error))
    this.#ready.reject(error ?? new ChannelError('closed', 'the client is closed'))
  }

  next(): Promise<IteratorResult<Change, undefined>> {
    return this.#queue.next()
  }

  return(): Promise<IteratorResult<Change, undefined>> {
    this.#leave()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leave()
  }

  readonly #leave = (): void => {
    this.#over(() => this.#queue.drop())
    this.#ready.reject(
      this.#signal?.reason ?? new ChannelError('closed', 'nobody listens any more'),
    )
  }

  #onAttached(given: SubscriptionFilter): void {
    const missing = missingIn(this.filter, given)
    if (this.#host.settings.strict && missing !== undefined) {
      throw refused('changes', `the server will not tell of ${missing}`)
    }
    this.#since = this.#host.settings.clock.now()
    if (this.#isReady) this.push({ type: 'reconnected' })
    this.#isReady = true
    this.#ready.resolve(given)
  }

  /** In a session lists are told of unasked; only resources are subscribed to, one by one. */
  async #subscribe({ server }: Opened): Promise<SubscriptionFilter> {
    const { tools, prompts, resources, tasks } = server.capabilities
    const { toolsListChanged, promptsListChanged, resourcesListChanged, taskIds } = this.filter
    const uris = resources?.subscribe ? (this.filter.resourceSubscriptions ?? []) : []
    await this.#watch(uris)
    return {
      ...(toolsListChanged && tools?.listChanged && { toolsListChanged }),
      ...(promptsListChanged && prompts?.listChanged && { promptsListChanged }),
      ...(resourcesListChanged && resources?.listChanged && { resourcesListChanged }),
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
      ...(taskIds !== undefined && tasks !== undefined && { taskIds }),
    }
  }

  /** Has the session subscribed to exactly these. */
  async #watch(uris: readonly string[]): Promise<void> {
    const { subscribed } = this.#host
    const before = this.#uris
    this.#uris = uris
    for (const uri of before) {
      if (!uris.includes(uri)) subscribed.remove(uri).then(undefined, () => {})
    }
    const told = uris.map(uri =>
      before.includes(uri) ? subscribed.tell(uri) : subscribed.add(uri),
    )
    await Promise.all(told)
  }

  /** In stateless revisions one request asks for everything and stays open as long as it is wanted. */
  async #listen(opened: Opened): Promise<SubscriptionFilter> {
    await this.#watch([])
    const stop = new AbortController()
    const acknowledged = deferred<SubscriptionFilter>()
    const stream: Stream = { id: undefined, stop, acknowledged, hasEnded: false }
    this.#stream = stream
    const params = { notifications: this.filter }
    const { id, reply } = this.#host.begin(opened, 'subscriptions/listen', params, {
      signal: stop.signal,
      timeoutMs: 0,
      // A server that ended the stream is not told that this side has ended it too.
      get silent() {
        return stream.hasEnded
      },
    })
    stream.id = id
    if (id !== undefined) this.#host.claim(id, this)
    reply.then(
      () => this.#stream === stream && this.onEnded(),
      error => this.#onStreamFailed(stream, error, opened.link.isOpen),
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
    if (this.#stream === stream && isConnected && isLost(error)) {
      // Only this stream broke off, which no new connection will make up for.
      this.onEnded()
      return
    }
    stream.acknowledged.reject(error)
    if (this.#stream !== stream) return
    // Before the acknowledgement, whoever waits for that hears of it.
    if (this.#isReady && !isGone(error)) this.fail(error)
  }

  /** Lets go of the stream on the connection, which may still be there. */
  #detach(): void {
    const stream = this.#stream
    if (stream === undefined) return
    this.#stream = undefined
    if (stream.id !== undefined) this.#host.claim(stream.id, undefined)
    stream.stop.abort('the client no longer listens')
  }

  #over(end: () => void): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#signal?.removeEventListener('abort', this.#leave)
    this.#host.settings.deadlines.stop(this.#retry)
    this.#detach()
    void this.#watch([])
    end()
    this.#host.onLeft(this)
  }
}

interface Stream {
  id: Id | undefined
  /** Whether it was the server who ended it. */
  hasEnded: boolean
  /** Gives up the request; the server is told. */
  readonly stop: AbortController
  readonly acknowledged: Deferred<SubscriptionFilter>
}

/** The connection is gone, whether or not anything was sent on it. */
function isGone(error: unknown): boolean {
  return isLost(error) || isUnsent(error)
}
