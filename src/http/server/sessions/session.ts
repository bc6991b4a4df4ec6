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
import type { Attachment, Endpoint } from '../../../mcp/endpoint.ts'
import { type Revision, revisionNamed } from '../../../mcp/revisions/revisions.ts'
import { isRecord } from '../../../util/objects.ts'
import type { RequestBudget } from '../../../util/sockets/request-budget.ts'
import type { HttpReply, HttpRequest } from '../../exchange.ts'
import type { Accepts } from '../accept.ts'
import { deniedBy, refusal, refuse } from '../responses.ts'
import type { OpenStreams } from '../sse-keep-alive.ts'
import { type EventIds, type EventLog, eventIds } from './event-log.ts'
import { type CancelledRequest, Post, Posts } from './posts.ts'
import { ResumableStream, type StreamHost } from './resumable-stream.ts'

/** What a session needs from `Sessions`. */
export interface HttpSessionHost {
  readonly log: EventLog
  readonly streams: OpenStreams
  /** Whether clients can resume streams. */
  readonly isResumable: boolean
  /**
   * Time in milliseconds after which a client is asked to reconnect when its connection is closed for
   * polling.
   */
  readonly retryMs: number
  /** Makes the challenge for a caller that lacks scopes; undefined without authentication. */
  readonly auth?: Authenticator | undefined
  /** Called when `initialize` has been answered. */
  onInitialized(session: HttpSession): void
  /** Called when a request or a stream of the session has begun or ended. */
  onActivity(session: HttpSession): void
  /** Called when the session has ended, or is about to. */
  onEnded(session: HttpSession): void
}

/** A POST of a session. */
export interface SessionPost {
  readonly request: HttpRequest
  readonly reply: HttpReply
  readonly accepts: Accepts
  /** The length of the message as text. */
  readonly bytes?: number | undefined
}

/** The key of the standalone stream. */
const STANDALONE = 0

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
  readonly #eventIds: EventIds | undefined
  readonly #streamHost: StreamHost & { canPoll: boolean }
  readonly #posts = new Posts()
  /** The resumable streams of requests, by their keys. */
  #streams: Map<number, ResumableStream> | undefined
  readonly #standalone: ResumableStream
  #sink: Sink | undefined
  #attachment: Attachment | undefined
  /** The `initialize` that opens the session, until it has been answered. */
  #initializing: { readonly post: Post; readonly reply: HttpReply } | undefined
  #revision: Revision | undefined
  #isClosed = false

  constructor(id: string, principal: Principal | undefined, host: HttpSessionHost) {
    this.id = id
    this.principal = principal
    this.#host = host
    this.#eventIds = host.isResumable ? eventIds() : undefined
    this.#streamHost = {
      log: host.log,
      streams: host.streams,
      eventId: this.#eventIds?.format,
      // Set after `initialize`. Not a getter, because V8 makes an object with one a dictionary,
      // which is twice as large.
      canPoll: false,
      onActivity: () => host.onActivity(this),
      onReleased: stream => this.#streams?.delete(stream.key),
    }
    this.#standalone = new ResumableStream(STANDALONE, this.#streamHost, {
      buffersUntilConnected: true,
    })
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
    return this.#posts.size > 0 || this.#standalone.isConnected
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
    this.#attachment = endpoint.attach(this, { principal: this.principal })
    const post = this.#newPost(reply, accepts, { suppressEvents: true })
    this.#initializing = { post, reply }
    void this.#receive(post.forward(message), request, post.key)
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
    if (this.#isClosed) respondGone(reply)
    else if (last !== undefined && last !== '') this.#resume(last, reply)
    else if (!this.#standalone.isConnected) this.#standalone.connect(reply)
    else refuse(reply, refusal(409, -32000, 'The stream is already open'))
  }

  /**
   * Closes the connection of a request, or the standalone stream, and asks the client to reconnect for
   * the rest. Returns false, and does nothing, for a client that does not support polling.
   */
  poll(about?: Id): boolean {
    if (!this.#streamHost.canPoll || this.#eventIds === undefined) return false
    const { retryMs } = this.#host
    if (about === undefined) return this.#standalone.poll(retryMs)
    return this.#posts.find(about)?.poll(retryMs) ?? false
  }

  /**
   * Ends the session after waiting up to `drainMs` for requests in flight; by default at once. Its id
   * becomes invalid.
   */
  end(options: { readonly drainMs?: number } = { drainMs: 0 }): Promise<void> {
    if (options.drainMs === 0) this.#host.onEnded(this)
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
    if (post === undefined) return this.#standalone.write(data)
    if (post.canSendEvents) return post.sendEvent(data)
    // A client that accepts no events can do without notifications, but not without server
    // requests.
    if (message.type === 'request') return this.#standalone.write(data)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#posts.clear()
    for (const stream of [...(this.#streams?.values() ?? []), this.#standalone]) stream.discard()
    this.#host.onEnded(this)
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
    const post = new Post(this.#posts.nextKey(), reply, accepts, this.#openStream, options)
    this.#posts.add(post)
    this.#host.onActivity(this)
    return post
  }

  readonly #openStream = (key: number): ResumableStream => {
    const stream = new ResumableStream(key, this.#streamHost)
    this.#streams ??= new Map()
    this.#streams.set(key, stream)
    return stream
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
      // Only a message that was rejected as a whole gets a reply without an id.
      const isRefused = !isList(reply) && reply.type === 'error' && reply.id === null
      const denied =
        !isList(reply) && reply.type === 'error'
          ? deniedBy(this.#host.auth, reply.error, this.principal)
          : undefined
      wait =
        denied === undefined
          ? post.respond(data, isRefused ? 400 : 200)
          : post.respond(data, denied.status, denied.headers)
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
    this.#revision = revisionNamed(version)
    this.#streamHost.canPoll = this.#revision?.features.polling ?? false
    if (httpReply.isFinished) void this.end()
    else this.#host.onInitialized(this)
    return post.respond(data, 200, { 'mcp-session-id': this.id })
  }

  #resume(last: string, reply: HttpReply): void {
    const place = this.#eventIds?.parse(last)
    const stream =
      place?.stream === STANDALONE ? this.#standalone : this.#streams?.get(place?.stream ?? -1)
    if (place !== undefined && stream?.canResumeFrom(place.sequence)) {
      stream.resume(reply, place.sequence)
      return
    }
    // Not 404, which would mean that the session has ended.
    const message = 'The event is unknown in this session, or not kept any more'
    refuse(reply, refusal(400, -32000, message))
  }
}

/**
 * The envelope of a message. Its headers are read on demand: not every binding has them at hand, and
 * few tools need them.
 */
class PostEnvelope implements Envelope {
  readonly acceptsRaw = true
  readonly about: number | undefined
  readonly #request: HttpRequest

  constructor(request: HttpRequest, about: number | undefined) {
    this.#request = request
    this.about = about
  }

  get principal(): Principal | undefined {
    return this.#request.principal
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#request.headers
  }

  get env(): unknown {
    return this.#request.env
  }

  address(includesLocal: boolean): string | undefined {
    return this.#request.address(includesLocal)
  }
}

/** Responds that the session has ended. */
function respondGone(reply: HttpReply, id: Id | null = null): void {
  refuse(reply, refusal(404, -32001, 'Session not found', id))
}
