import { ChannelError } from '../../jsonrpc/channel.ts'
import type { Id, Message, RpcFailure } from '../../jsonrpc/message.ts'
import { IdTable } from '../../jsonrpc/peer/id-table.ts'
import { isRecord } from '../../util/objects.ts'
import { addressText } from '../../util/text/address-text.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { notBegun, requestHeader, webSocketWire, wireHeader } from '../header-fields.ts'
import type { HttpEndpoint } from './endpoint.ts'
import {
  HttpStatusError,
  isAuthError,
  isTemporaryStatus,
  requestFailure,
  statusError,
} from './errors.ts'
import { refreshParamHeaders, type SendRequest } from './param-headers.ts'
import { PendingPost, type Recipient } from './post.ts'
import { Replies } from './replies.ts'
import { followEvents, readBody, readErrorBody } from './response.ts'
import { type HttpResponse, isSuccess, mediaType } from './transport/http-client.ts'

/** What the requests of a channel need from it. */
export interface CallsHost extends Recipient {
  /** Returns what a message must wait for so that it does not overtake the message before it. */
  barrier(): Promise<void> | undefined
  /**
   * Called when the session has ended on the server. `ids` are the requests that it rejected
   * for this reason.
   */
  onSessionLost(ids: readonly Id[]): void
  /** Opens the event stream of the HTTP+SSE transport, which names the URL for messages. */
  openHttpSse(): Promise<void>
  /** Called when a request has been answered, or will not be. */
  onSettled(): void
}

/** The requests of one channel. Each is a POST of its own, whose response is read to its end. */
export class HttpCalls {
  readonly #endpoint: HttpEndpoint
  readonly #host: CallsHost
  readonly #replies: Replies
  /** Requests without a reply, by their ids. */
  #pending = new IdTable<PendingPost>()
  readonly #queue: PendingPost[] = []
  #running = 0
  #isClosed = false

  constructor(endpoint: HttpEndpoint, host: CallsHost) {
    this.#endpoint = endpoint
    this.#host = host
    this.#replies = new Replies(endpoint, id => void this.#pending.delete(id))
  }

  /** Number of requests without a reply. */
  get size(): number {
    return this.#pending.size
  }

  /** Returns the pending request with this id. */
  find(id: Id | null): PendingPost | undefined {
    return id === null ? undefined : this.#pending.get(id)
  }

  /** Delivers what arrives for requests, on their own responses or on other streams. */
  get replies(): Replies {
    return this.#replies
  }

  /** Sends requests, as soon as `maxOpenRequests` permits. */
  begin(message: Message | readonly Message[], body: string): void {
    this.#add(new PendingPost(message, body, this.#host, this.#endpoint.settings.clock))
  }

  /**
   * Abandons a request that the caller no longer waits for. Disconnecting from a stateless response
   * cancels the request. In a session it does not, so the server, which has been sent a cancellation,
   * gets time to end the response.
   */
  abandon(id: Id): void {
    const post = this.#pending.get(id)
    if (post === undefined) return
    this.#pending.delete(id)
    post.waiting.delete(id)
    const queued = this.#queue.indexOf(post)
    if (queued !== -1 && post.waiting.size === 0) this.#queue.splice(queued, 1)
    if (post.isStateless) {
      this.#host.failed(id, new ChannelError('outcome-unknown', `${post.what}: cancelled`))
      post.scope.cancel()
    } else if (post.waiting.size === 0) {
      post.scope.cancelAfter(this.#endpoint.settings.closeTimeoutMs)
    }
  }

  /**
   * Cancels all requests without reporting a failure, because their callers learn that the channel has
   * closed.
   */
  end(): void {
    this.#isClosed = true
    this.#queue.length = 0
    const all = new Set(this.#pending.values())
    this.#pending = new IdTable()
    for (const post of all) post.scope.cancel()
  }

  #add(post: PendingPost): void {
    for (const id of post.waiting) this.#pending.set(id, post)
    if (post.isLongLived || this.#running < this.#endpoint.settings.maxOpenRequests) {
      void this.#run(post)
    } else this.#queue.push(post)
  }

  async #run(post: PendingPost): Promise<void> {
    // A response that lasts for as long as the client listens would block other requests forever.
    if (!post.isLongLived) this.#running++
    try {
      const barrier = this.#host.barrier()
      if (barrier !== undefined) await barrier
      await this.#post(post)
      if (post.mismatch !== undefined) await this.#repeat(post, post.mismatch)
      if (!post.isSettled) throw new ChannelError('framing', 'the response contains no reply')
    } catch (error) {
      this.#fail(post, error)
    }
    post.scope.release()
    if (!post.isLongLived) {
      this.#running--
      const next = this.#queue.shift()
      if (next !== undefined) void this.#run(next)
    }
    this.#host.onSettled()
  }

  #fail(post: PendingPost, error: unknown): void {
    if (this.#isClosed) return
    const { code, message, cause } = requestFailure(
      `POST ${addressText(this.#endpoint.url)}`,
      error,
    )
    const failure = new ChannelError(code, `${post.what}: ${message}`, { cause })
    for (const id of post.waiting) {
      this.#pending.delete(id)
      post.recipient.failed(id, failure)
    }
    post.waiting.clear()
  }

  async #post(post: PendingPost): Promise<void> {
    const { message, body, scope } = post
    const { session } = this.#endpoint
    if (post.isInitialize) session.clear()
    post.inSession = !post.isStateless && session.id !== undefined
    const response = await this.#endpoint.post(message, body, scope.next())
    if (!isSuccess(response)) {
      await this.#refused(post, response)
      return
    }
    await this.#accepted(post, response)
  }

  async #accepted(post: PendingPost, response: HttpResponse): Promise<void> {
    if (this.#endpoint.isHttpSse) {
      // The replies arrive on the event stream and are matched to their calls by id.
      response.discard()
      for (const id of post.waiting) this.#pending.delete(id)
      post.waiting.clear()
      return
    }
    const { session, settings } = this.#endpoint
    if (post.method === 'server/discover') {
      settings.onWebSocketOffer?.(response.header(wireHeader) === webSocketWire)
    }
    if (post.isInitialize && !session.setId(response.header('mcp-session-id'))) {
      response.discard()
      throw new ChannelError(
        'framing',
        'the server gave the session an id that cannot be sent in a header',
      )
    }
    const type = mediaType(response)
    if (type === 'application/json') {
      const body = readBody(response, post, this.#endpoint)
      const bytes = body instanceof Promise ? await body : body
      const room = this.#replies.takeBody(post, bytes)
      if (room !== undefined) await room
    } else if (type === 'text/event-stream' && response.status === 200) {
      await this.#takeEvents(post, response)
    } else {
      response.discard()
      const with_ = type === '' ? 'nothing' : type
      const what = `answered ${response.status} with ${with_} instead of JSON or an event stream`
      throw new ChannelError('framing', what)
    }
  }

  async #takeEvents(post: PendingPost, response: HttpResponse): Promise<void> {
    const end = await followEvents(response, post, this.#endpoint, this.#replies)
    if (post.isSettled || end.type === 'complete') return
    const what = 'the response broke off before the reply; the request may have been executed'
    if (end.type === 'lost') throw new ChannelError('outcome-unknown', what, { cause: end.cause })
    const { response: refused } = end
    refused.discard()
    if (refused.status === 404 && post.inSession) this.#host.onSessionLost([])
    const { cause } = statusError('resuming the event stream', refused)
    throw new ChannelError('outcome-unknown', what, { cause })
  }

  async #refused(post: PendingPost, response: HttpResponse): Promise<void> {
    const { status } = response
    const { method, waiting } = post
    const { failure: found, words: reason } = await readErrorBody(response, post, this.#endpoint)
    const words = withServedPath(reason, found, this.#endpoint.url)
    const what = `POST ${addressText(this.#endpoint.url)}`
    if (isAuthError(status)) throw statusError(what, response, words)
    if (response.header(requestHeader) === notBegun) {
      throw new ChannelError(
        'closed',
        `${what}: the server is closing, and did not begin the request`,
      )
    }
    if (status === 404 && post.inSession) {
      const ids = [...waiting]
      for (const id of ids) this.#pending.delete(id)
      waiting.clear()
      this.#host.onSessionLost(ids)
      return
    }
    const isOwn = found !== undefined && found.id !== null && waiting.has(found.id)
    // A response that shows no sign of a JSON-RPC server only says that nothing is there: the URL
    // is wrong.
    const isElsewhere = status === 404 && !isOwn && !isOfProtocol(found)
    const reply = isElsewhere ? undefined : found
    if (post.isInitialize && mayBeHttpSse.has(status) && !this.#endpoint.isHttpSse) {
      if (!isOwn && !isOfProtocol(found)) {
        await this.#viaHttpSse(post, reply ?? statusError(what, response, words))
        return
      }
    }
    // A probe must not take a temporary failure for an answer.
    if (isTemporaryStatus(status) && (!isOwn || method === 'server/discover')) {
      throw statusError(what, response, words)
    }
    if (reply !== undefined) await this.#replies.take(post, reply)
    else if (method === 'server/discover') {
      const { message, cause } = statusError(what, response, words)
      throw new ChannelError('framing', message, { cause })
    } else throw statusError(what, response, words)
  }

  /**
   * Tries the HTTP+SSE transport, because a server that rejects `initialize` may support only that. If
   * it does not either, the rejection stands.
   */
  async #viaHttpSse(post: PendingPost, refused: RpcFailure | ChannelError): Promise<void> {
    try {
      await this.#host.openHttpSse()
    } catch (error) {
      if (!(refused instanceof Error)) {
        await this.#replies.take(post, refused)
        return
      }
      const { code, message, cause } = refused
      // These statuses only repeat what is known: that there is no such endpoint.
      const source = error instanceof ChannelError ? error.cause : undefined
      if (source instanceof HttpStatusError && mayBeHttpSse.has(source.status)) throw refused
      const why = errorMessage(error)
      throw new ChannelError(code, `${message}; nor does it support HTTP+SSE: ${why}`, { cause })
    }
    await this.#post(post)
  }

  /**
   * Repeats a call whose headers did not match its arguments, because the known header annotations of
   * the tool may be out of date.
   */
  async #repeat(post: PendingPost, mismatch: RpcFailure): Promise<void> {
    post.isRepeated = true
    const { clock, acceptTimeoutMs } = this.#endpoint.settings
    const list: SendRequest = (message, body, recipient) => {
      const listing = new PendingPost(message, body, recipient, clock)
      for (const id of listing.waiting) this.#pending.set(id, listing)
      listing.scope.cancelAfter(acceptTimeoutMs)
      // Not queued, because the call that waits for it occupies a slot itself.
      void this.#run(listing)
    }
    const isBetter = await refreshParamHeaders(post, this.#endpoint.tools, list)
    post.mismatch = undefined
    if (isBetter && post.waiting.size > 0) await this.#post(post)
    else await this.#replies.take(post, mismatch)
  }
}

/** Adds the address that was probably meant, if the server says which paths it serves. */
function withServedPath(
  words: string | undefined,
  failure: RpcFailure | undefined,
  url: URL,
): string | undefined {
  const data = failure?.error.data
  const [path] = isRecord(data) && Array.isArray(data.paths) ? data.paths : []
  if (typeof path !== 'string' || !/^\/[\w./~-]*$/.test(path)) return words
  return `${words ?? 'nothing is served at this path'}; did you mean ${url.origin}${path}?`
}

/** The statuses by which a server of the HTTP+SSE transport may reject a POST to its event stream. */
const mayBeHttpSse: ReadonlySet<number> = new Set([400, 404, 405])

/** Whether an error is one that only stateless servers, or servers that negotiate the version, send. */
function isOfProtocol(failure: RpcFailure | undefined): boolean {
  if (failure === undefined) return false
  const { code, data } = failure.error
  return (code <= -32020 && code >= -32022) || (isRecord(data) && Array.isArray(data.supported))
}
