import {
  type Channel,
  ChannelError,
  type Envelope,
  type Principal,
  type Sink,
} from '../../../jsonrpc/channel.ts'
import { encodeForSend } from '../../../jsonrpc/codec/encode.ts'
import {
  type Batch,
  type Entry,
  type Id,
  isList,
  type Message,
  type RpcRequest,
} from '../../../jsonrpc/message.ts'
import type { Authenticator } from '../../../mcp/authenticator.ts'
import type { Attachment, Endpoint, SessionState } from '../../../mcp/endpoint.ts'
import { type Revision, revisionNamed } from '../../../mcp/revisions/revisions.ts'
import { isRecord } from '../../../util/objects.ts'
import type { RequestBudget } from '../../../util/sockets/request-budget.ts'
import type { HttpReply, HttpRequest } from '../../exchange.ts'
import type { Accepts } from '../accept.ts'
import { refusal, refuse } from '../responses.ts'
import { eventIds } from './event-ids.ts'
import type { KeptSessions } from './moving/kept-sessions.ts'
import { lostReply } from './moving/lost-reply.ts'
import { MovableSession } from './moving/movable-session.ts'
import type { ReadRecord, SessionRecord } from './moving/session-record.ts'
import type { ReleasedSession } from './moving/session-store.ts'
import type { RestoredStreams } from './moving/stream-event.ts'
import { type CancelledRequest, Post, Posts } from './posts.ts'
import type { StreamHost } from './resumable-stream.ts'
import { PostEnvelope, type SessionPost } from './session-post.ts'
import { SessionStreams } from './session-streams.ts'

/** What a session needs from `Sessions`. */
export interface HttpSessionHost extends Pick<StreamHost, 'log' | 'streams'> {
  /** Whether clients can resume streams. */
  readonly isResumable: boolean
  /**
   * Time in milliseconds after which a client is asked to reconnect when its connection is closed for
   * polling.
   */
  readonly retryMs: number
  /** Makes the challenge for a caller that lacks scopes; undefined without authentication. */
  readonly auth?: Authenticator | undefined
  /** Reports to the store that keeps sessions for other processes; undefined without one. */
  readonly kept?: Pick<KeptSessions<HttpSession>, 'changed' | 'event'> | undefined
  /** Called when `initialize` has succeeded. Its response waits for the promise, which never rejects. */
  onInitialized(session: HttpSession): void | Promise<void>
  /** Called when a request or a stream of the session has begun or ended. */
  onActivity(session: HttpSession): void
  /** Called when the session has ended, or is about to. The promise never rejects. */
  onEnded(session: HttpSession): void | Promise<void>
}

/**
 * A session over Streamable HTTP: a channel that receives one message or batch per POST. It sends
 * messages on the stream of the request they belong to, and all others on the standalone stream that
 * the client opens by GET.
 *
 * A client that disconnects cancels nothing: it can reconnect for the rest.
 */
export class HttpSession implements Channel {
  readonly id: string
  readonly principal: Principal | undefined
  requestBudget: RequestBudget | undefined
  readonly #host: HttpSessionHost
  readonly #streams: SessionStreams
  readonly #posts = new Posts()
  /** The record with which the session was restored. */
  readonly #origin: ReadRecord | undefined
  #sink: Sink | undefined
  #attachment: Attachment | undefined
  /** Undefined where no store keeps the session. */
  #movable: MovableSession | undefined
  /** The `initialize` that opens the session, until it has been answered. */
  #initializing: { readonly post: Post; readonly reply: HttpReply } | undefined
  #revision: Revision | undefined
  #isClosed = false
  /** Settles when the store has forgotten the session. */
  #forgotten: Promise<void> | undefined

  /** `origin` is the record of a session that another process had, with the epoch of this one. */
  constructor(
    id: string,
    principal: Principal | undefined,
    host: HttpSessionHost,
    origin?: ReadRecord,
  ) {
    this.id = id
    this.principal = principal
    this.#host = host
    this.#origin = origin
    const { eventPrefix, epoch } = origin?.record ?? {}
    const ids = host.isResumable ? eventIds(eventPrefix, epoch) : undefined
    this.#streams = new SessionStreams(host, ids, () => host.onActivity(this))
    const { kept } = host
    if (kept !== undefined) this.#streams.report = event => kept.event(this, event)
  }

  /** The negotiated revision; undefined before `initialize` has been answered. */
  get revision(): string | undefined {
    return this.#revision?.name
  }

  /** Whether a request is in flight. */
  get hasRequests(): boolean {
    return this.#posts.size > 0
  }

  /** Whether a request is in flight or the standalone stream is open. */
  get isBusy(): boolean {
    return this.#posts.size > 0 || this.#streams.standalone.isConnected
  }

  /**
   * Opens the session with its `initialize`. If that fails, or the client disconnects before the
   * response, the session ends, because no client knows its id.
   */
  begin(
    endpoint: Endpoint,
    message: RpcRequest,
    request: HttpRequest,
    reply: HttpReply,
    accepts: Accepts,
  ): void {
    this.requestBudget = request.requestBudget
    this.#attach(endpoint)
    const post = this.#newPost(reply, accepts, { suppressEvents: true })
    this.#initializing = { post, reply }
    void this.#receive(post.forward(message), request, post.key)
  }

  /**
   * Continues the session of another process, with what was reported of its streams. Requests that were in flight there
   * get an error. Throws what the endpoint throws.
   */
  resume(endpoint: Endpoint, { state }: SessionRecord, streams: RestoredStreams): void {
    const { profile } = endpoint
    const revision = revisionNamed(state.revision)
    this.#setRevision(revision)
    for (const key of streams.keys()) this.#posts.skipKeys(key)
    // First, because the listeners of the endpoint may send at once.
    const lost = this.#streams.restore(streams.values())
    this.#attach(endpoint, state)
    for (const { stream, requests } of lost) {
      for (const id of requests) void stream.write(lostReply(id, { profile, revision }))
      stream.end()
    }
  }

  /** Returns what another process needs to continue the session; undefined where no other can, now or later. */
  record(owner: string | undefined): SessionRecord | undefined {
    return this.#movable?.record(owner)
  }

  /** Whether another process can continue the session as it is now. */
  get isMovable(): boolean {
    return this.#movable?.isMovable ?? false
  }

  /** What the ids of its events begin with; undefined where streams cannot be resumed. */
  get eventPrefix(): string | undefined {
    return this.#streams.ids?.prefix
  }

  /** Returns what another process needs to continue the session now. Throws a SessionMoveError if none can. */
  snapshot(owner: string | undefined): ReleasedSession | undefined {
    this.#movable?.check(this.hasRequests)
    const record = this.record(owner)
    return record && { record, events: this.#streams.kept() }
  }

  /**
   * Handles the message or batch of a POST. Requests are answered by their replies, everything else by
   * 202.
   */
  post(arrival: Message | Batch, { request, reply, accepts, bytes }: SessionPost): void {
    if (this.#isClosed) {
      respondGone(reply, arrival.type === 'request' ? arrival.id : null)
      return
    }
    this.requestBudget ??= request.requestBudget
    switch (arrival.type) {
      case 'request': {
        const post = this.#newPost(reply, accepts)
        void this.#receive(post.forward(arrival), request, post.key, bytes)
        break
      }
      case 'batch':
        this.#takeBatch(arrival, request, this.#newPost(reply, accepts))
        break
      case 'notification': {
        const cancelled: CancelledRequest[] = []
        const note = this.#posts.rewriteNotification(arrival, cancelled)
        const wait = note && this.#receive(note, request)
        this.#posts.abandonCancelled(cancelled)
        this.#accept(reply, wait)
        break
      }
      default:
        this.#accept(reply, this.#receive(arrival, request))
    }
  }

  /**
   * Opens the standalone stream, or resumes a stream after the event that the header `Last-Event-ID`
   * names. Responds 409 if the standalone stream is open already, and 400 for an event that was never
   * sent or is not kept any more.
   */
  listen(request: HttpRequest, reply: HttpReply): void {
    const last = request.header('last-event-id')
    if (reply.isFinished) return
    const { standalone } = this.#streams
    if (this.#isClosed) respondGone(reply)
    else if (last !== undefined && last !== '') {
      if (this.#streams.resume(last, reply)) this.#movable?.notifyOfChanges()
    } else if (!standalone.isConnected) {
      standalone.connect(reply)
      this.#movable?.notifyOfChanges()
    } else refuse(reply, refusal(409, -32000, 'The stream is already open'))
  }

  /** Ends the session for its client, which gets 204 as soon as the session is forgotten. */
  delete(reply: HttpReply): void {
    void this.end()
    const confirm = (): void => {
      if (!reply.isFinished) reply.send(204, {})
    }
    if (this.#forgotten === undefined) confirm()
    else void this.#forgotten.then(confirm)
  }

  /**
   * Closes the connection of a request, or the standalone stream, and asks the client to reconnect for
   * the rest. Returns false, and does nothing, for a client that does not support polling.
   */
  poll(about?: Id): boolean {
    if (!this.#streams.canPoll || this.#streams.ids === undefined) return false
    const { retryMs } = this.#host
    if (about === undefined) return this.#streams.standalone.poll(retryMs)
    return this.#posts.find(about)?.poll(retryMs) ?? false
  }

  /**
   * Ends the session after waiting up to `drainMs` for requests in flight; by default at once. Its id
   * becomes invalid.
   */
  end(options: { readonly drainMs?: number } = { drainMs: 0 }): Promise<void> {
    if (options.drainMs === 0) this.#onEnded()
    return this.#attachment?.close(options) ?? this.close()
  }

  open(sink: Sink): void {
    this.#sink = sink
  }

  send(message: Message | readonly Message[], envelope?: Envelope): void | Promise<void> {
    if (this.#isClosed) throw new ChannelError('closed', 'sending: the session has ended')
    const about = envelope?.about
    const post = about === undefined ? undefined : this.#posts.find(about)
    if (isList(message) || message.type === 'result' || message.type === 'error') {
      // A reply without a pending POST belongs to a cancelled request.
      return post && this.#respond(post, message)
    }
    const data = encodeForSend(message)
    if (post === undefined) return this.#streams.writeStandalone(message, data)
    if (post.canSendEvents) return post.sendEvent(data)
    // A client that accepts no events can do without notifications, but not without server
    // requests.
    if (message.type === 'request') return this.#streams.writeStandalone(message, data)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#posts.clear()
    this.#streams.discard()
    this.#onEnded()
    this.#sink?.closed()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #newPost(
    reply: HttpReply,
    accepts: Accepts,
    options?: { readonly suppressEvents: boolean },
  ): Post {
    const post = new Post(this.#posts.nextKey(), reply, accepts, this.#streams.openFor, options)
    this.#posts.add(post)
    this.#host.onActivity(this)
    return post
  }

  #attach(endpoint: Endpoint, state?: SessionState): void {
    const envelope = { principal: this.principal, transport: this.#streams }
    const { kept } = this.#host
    if (kept === undefined || endpoint.attachSession === undefined) {
      this.#attachment = endpoint.attach(this, envelope)
      return
    }
    const onChange = (): void => kept.changed(this)
    const hooks = { ...(state && { state }), onChange }
    const attachment = endpoint.attachSession(this, envelope, hooks)
    this.#attachment = attachment
    this.#movable = new MovableSession(this, attachment, this.#origin)
  }

  #onEnded(): void {
    const forgotten = this.#host.onEnded(this)
    if (forgotten !== undefined) this.#forgotten = forgotten
  }

  #setRevision(revision: Revision | undefined): void {
    this.#revision = revision
    this.#streams.canPoll = revision?.features.polling ?? false
  }

  #receive(
    arrival: Message | Batch,
    request: HttpRequest,
    about?: number,
    bytes?: number,
  ): void | Promise<void> {
    return this.#sink?.receive(arrival, new PostEnvelope(request, about), bytes)
  }

  /** Responds 202 as soon as the receiver is ready for more. */
  #accept(reply: HttpReply, wait: void | Promise<void>): void {
    const accept = (): void => {
      if (!reply.isFinished) reply.send(202, {})
    }
    this.#host.onActivity(this)
    if (wait instanceof Promise) wait.then(accept, accept)
    else accept()
  }

  #takeBatch(batch: Batch, request: HttpRequest, post: Post): void {
    const cancelled: CancelledRequest[] = []
    const entries: Entry[] = []
    for (const entry of post.forwardBatch(batch, this.#posts.nextKey).entries) {
      const taken =
        entry.type === 'notification' ? this.#posts.rewriteNotification(entry, cancelled) : entry
      if (taken !== undefined) entries.push(taken)
    }
    if (entries.length > 0) void this.#receive({ type: 'batch', entries }, request, post.key)
    // A rejected batch has cancelled nothing.
    if (!post.isRefused) this.#posts.abandonCancelled(cancelled)
    if (post.size === 0 && this.#posts.delete(post)) post.accept()
    this.#host.onActivity(this)
  }

  #respond(post: Post, reply: Message | readonly Message[]): void | Promise<void> {
    const data = encodeForSend(
      isList(reply) ? reply.map(one => post.withOriginalId(one)) : post.withOriginalId(reply),
    )
    this.#posts.delete(post)
    let wait: void | Promise<void>
    if (post === this.#initializing?.post && !isList(reply)) {
      wait = this.#initialized(reply, post, data, this.#initializing.reply)
    } else {
      wait = post.respondWith(reply, data, this.#host.auth, this.principal)
    }
    this.#host.onActivity(this)
    return wait
  }

  #initialized(
    reply: Message,
    post: Post,
    data: string,
    httpReply: HttpReply,
  ): void | Promise<void> {
    this.#initializing = undefined
    const version =
      reply.type === 'result' && isRecord(reply.result) ? reply.result.protocolVersion : undefined
    if (typeof version !== 'string') {
      void this.end()
      return post.respond(data)
    }
    this.#setRevision(revisionNamed(version))
    const respond = (): void | Promise<void> => {
      if (httpReply.isFinished) void this.end()
      return post.respond(data, 200, { 'mcp-session-id': this.id })
    }
    const saved = httpReply.isFinished ? undefined : this.#host.onInitialized(this)
    return saved === undefined ? respond() : saved.then(respond)
  }
}

/** Responds that the session has ended. */
function respondGone(reply: HttpReply, id: Id | null = null): void {
  refuse(reply, refusal(404, -32001, 'Session not found', id))
}
