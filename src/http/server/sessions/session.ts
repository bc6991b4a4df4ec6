import {
  type Channel,
  ChannelError,
  type Envelope,
  type Principal,
  type Sink,
} from '../../../jsonrpc/channel.ts'
import { textOf } from '../../../jsonrpc/codec/text.ts'
import {
  type Batch,
  type Entry,
  type Id,
  isList,
  type Message,
  type RpcRequest,
} from '../../../jsonrpc/message.ts'
import type { Attachment, Endpoint } from '../../../mcp/endpoint.ts'
import { type Revision, revisionNamed } from '../../../mcp/revisions/revisions.ts'
import { isRecord } from '../../../util/record.ts'
import type { HttpReply, HttpRequest } from '../../exchange.ts'
import type { Accepts } from '../accept.ts'
import { refusal, refuse } from '../responses.ts'
import { type EventIds, eventIds } from './event-ids.ts'
import type { EventLog } from './event-log.ts'
import { Post } from './post.ts'
import { type Cancelled, Posts } from './posts.ts'
import { Outlet, type OutletHost } from './resumable-stream.ts'

/** What a session needs of whoever keeps it. */
export interface SessionHost {
  readonly log: EventLog
  /** Whether streams can be picked up again. */
  readonly isResumable: boolean
  /** How long a client is asked to stay away when its connection is closed for the time being. */
  readonly retryMs: number
  /** Its `initialize` has been answered. */
  onOpened(session: HttpSession): void
  /** It has got, or lost, a request in flight or a stream. */
  onMoved(session: HttpSession): void
  /** It has ended, or is about to. */
  onEnded(session: HttpSession): void
}

/** The stream of what belongs to no request. */
const UNASKED = 0

/**
 * A session over HTTP: a channel whose messages come by one POST each, and leave on the stream of the
 * request they belong to or, without one, on the stream that the client has opened for them.
 *
 * A client that loses the connection has cancelled nothing: it comes back for the rest.
 */
export class HttpSession implements Channel {
  readonly id: string
  readonly principal: Principal | undefined
  readonly #host: SessionHost
  readonly #eventIds: EventIds | undefined
  readonly #outletHost: OutletHost & { isPolling: boolean }
  readonly #posts = new Posts()
  /** The streams of requests that can be picked up. */
  #outlets: Map<number, Outlet> | undefined
  readonly #unasked: Outlet
  #sink: Sink | undefined
  #attachment: Attachment | undefined
  /** The `initialize` that opens it, until that is answered. */
  #opening: { readonly post: Post; readonly reply: HttpReply } | undefined
  #revision: Revision | undefined
  #isClosed = false

  constructor(id: string, principal: Principal | undefined, host: SessionHost) {
    this.id = id
    this.principal = principal
    this.#host = host
    this.#eventIds = host.isResumable ? eventIds() : undefined
    this.#outletHost = {
      log: host.log,
      eventId: this.#eventIds?.write,
      // Settled by `initialize`. No getter: an object with one is a dictionary, twice as large.
      isPolling: false,
      onMoved: () => host.onMoved(this),
      onForgotten: outlet => this.#outlets?.delete(outlet.key),
    }
    this.#unasked = new Outlet(UNASKED, this.#outletHost, { waits: true })
  }

  /** What `initialize` has settled; undefined before that. */
  get revision(): string | undefined {
    return this.#revision?.name
  }

  /** Whether a request is in flight or the stream for everything else is open. */
  get isBusy(): boolean {
    return this.#posts.size > 0 || this.#unasked.isConnected
  }

  /**
   * Begins the session with the `initialize` that asks for it. If that fails, or its client does not
   * wait for it, the session ends: nobody knows its name.
   */
  begin(
    endpoint: Endpoint,
    message: RpcRequest,
    request: HttpRequest,
    reply: HttpReply,
    accepts: Accepts,
  ): void {
    this.#attachment = endpoint.attach(this, { principal: this.principal })
    const post = this.#newPost(reply, accepts, { quiet: true })
    this.#opening = { post, reply }
    void this.#receive(post.ask(message), request, post.key)
  }

  /** Takes what a POST brought, and answers it: requests by their replies, everything else by 202. */
  post(arrival: Message | Batch, request: HttpRequest, reply: HttpReply, accepts: Accepts): void {
    if (this.#isClosed) {
      gone(reply, arrival.type === 'request' ? arrival.id : null)
      return
    }
    switch (arrival.type) {
      case 'request': {
        const post = this.#newPost(reply, accepts)
        void this.#receive(post.ask(arrival), request, post.key)
        break
      }
      case 'batch':
        this.#takeBatch(arrival, request, this.#newPost(reply, accepts))
        break
      case 'notification': {
        const cancelled: Cancelled[] = []
        const note = this.#posts.note(arrival, cancelled)
        const wait = note && this.#receive(note, request)
        this.#posts.giveUp(cancelled)
        this.#accept(reply, wait)
        break
      }
      default:
        this.#accept(reply, this.#receive(arrival, request))
    }
  }

  /**
   * Opens the stream of what belongs to no request, or goes on behind the event that the header
   * `Last-Event-ID` names. A second stream is refused with 409, and an event that was never sent or is
   * not kept any more with 400.
   */
  listen(request: HttpRequest, reply: HttpReply): void {
    const last = request.header('last-event-id')
    if (reply.isOver) return
    if (this.#isClosed) gone(reply)
    else if (last !== undefined && last !== '') this.#resume(last, reply)
    else if (!this.#unasked.isConnected) this.#unasked.connect(reply)
    else refuse(reply, refusal(409, -32000, 'This stream is open already'))
  }

  /**
   * Closes the connection of a request, or the one for everything else, and lets the client come back
   * for the rest. Returns false, and does nothing, where the client does not know how to.
   */
  poll(about?: Id): boolean {
    if (!this.#outletHost.isPolling || this.#eventIds === undefined) return false
    const { retryMs } = this.#host
    if (about === undefined) return this.#unasked.poll(retryMs)
    return this.#posts.about(about)?.poll(retryMs) ?? false
  }

  /** Ends the session: what is in flight is refused, and its name means nothing any more. */
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
    const post = about === undefined ? undefined : this.#posts.about(about)
    if (isList(message) || message.type === 'result' || message.type === 'error') {
      // One that nobody waits for any more has been cancelled.
      return post && this.#answer(post, message)
    }
    const data = textOf(message)
    if (post === undefined) return this.#unasked.write(data)
    if (post.canTell) return post.tell(data)
    // Whoever takes no events can do without the news, but not without being asked.
    if (message.type === 'request') return this.#unasked.write(data)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#posts.clear()
    for (const outlet of [...(this.#outlets?.values() ?? []), this.#unasked]) outlet.discard()
    this.#host.onEnded(this)
    this.#sink?.closed()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #newPost(reply: HttpReply, accepts: Accepts, options?: { readonly quiet: boolean }): Post {
    const post = new Post(this.#posts.nextKey(), reply, accepts, this.#openOutlet, options)
    this.#posts.add(post)
    this.#host.onMoved(this)
    return post
  }

  readonly #openOutlet = (key: number): Outlet => {
    const outlet = new Outlet(key, this.#outletHost)
    this.#outlets ??= new Map()
    this.#outlets.set(key, outlet)
    return outlet
  }

  #receive(arrival: Message | Batch, request: HttpRequest, about?: number): void | Promise<void> {
    return this.#sink?.receive(arrival, new PostEnvelope(request, about))
  }

  /** Says that something has arrived, once whoever it is for is ready for more. */
  #accept(reply: HttpReply, wait: void | Promise<void>): void {
    const accept = (): void => {
      if (!reply.isOver) reply.send(202, {})
    }
    this.#host.onMoved(this)
    if (wait instanceof Promise) wait.then(accept, accept)
    else accept()
  }

  #takeBatch(batch: Batch, request: HttpRequest, post: Post): void {
    const cancelled: Cancelled[] = []
    const entries: Entry[] = []
    for (const entry of post.askAll(batch, this.#posts.nextKey).entries) {
      const taken = entry.type === 'notification' ? this.#posts.note(entry, cancelled) : entry
      if (taken !== undefined) entries.push(taken)
    }
    if (entries.length > 0) void this.#receive({ type: 'batch', entries }, request, post.key)
    // Of a batch that is not taken, nothing has been heard.
    if (!post.isRefused) this.#posts.giveUp(cancelled)
    if (post.size === 0 && this.#posts.delete(post)) post.accept()
    this.#host.onMoved(this)
  }

  #answer(post: Post, reply: Message | readonly Message[]): void | Promise<void> {
    const data = textOf(isList(reply) ? reply.map(one => post.original(one)) : post.original(reply))
    this.#posts.delete(post)
    let wait: void | Promise<void>
    if (post === this.#opening?.post && !isList(reply)) {
      wait = this.#opened(reply, post, data, this.#opening.reply)
    } else {
      // Only what could not be taken at all is answered without an id.
      const isRefused = !isList(reply) && reply.type === 'error' && reply.id === null
      wait = post.answer(data, isRefused ? 400 : 200)
    }
    this.#host.onMoved(this)
    return wait
  }

  #opened(reply: Message, post: Post, data: string, way: HttpReply): void | Promise<void> {
    this.#opening = undefined
    const version =
      reply.type === 'result' && isRecord(reply.result) ? reply.result.protocolVersion : undefined
    if (typeof version !== 'string') {
      void this.end()
      return post.answer(data)
    }
    this.#revision = revisionNamed(version)
    this.#outletHost.isPolling = this.#revision?.features.polling ?? false
    if (way.isOver) void this.end()
    else this.#host.onOpened(this)
    return post.answer(data, 200, { 'mcp-session-id': this.id })
  }

  #resume(last: string, reply: HttpReply): void {
    const place = this.#eventIds?.read(last)
    const outlet =
      place?.stream === UNASKED ? this.#unasked : this.#outlets?.get(place?.stream ?? -1)
    if (place !== undefined && outlet?.reaches(place.sequence)) {
      outlet.resume(reply, place.sequence)
      return
    }
    // Not 404, which would mean that the session is gone.
    const message = 'There is no such event in this session any more, or there never was'
    refuse(reply, refusal(400, -32000, message))
  }
}

/** What travels beside a message. Not every binding has its headers at hand, and few tools ask. */
class PostEnvelope implements Envelope {
  readonly takesWritten = true
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
}

/** Answers whoever comes when the session has ended. */
function gone(reply: HttpReply, id: Id | null = null): void {
  refuse(reply, refusal(404, -32001, 'Session not found', id))
}
