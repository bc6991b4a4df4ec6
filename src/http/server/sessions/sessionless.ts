import { type Channel, ChannelError, type Envelope, type Sink } from '../../../jsonrpc/channel.ts'
import { encodeError, encodeForSend } from '../../../jsonrpc/codec/encode.ts'
import { errorObject, methodNotFound } from '../../../jsonrpc/error.ts'
import { isList, type Message, type RpcRequest } from '../../../jsonrpc/message.ts'
import type { Attachment, Endpoint } from '../../../mcp/endpoint.ts'
import { isRecord } from '../../../util/objects.ts'
import type { RequestBudget } from '../../../util/sockets/request-budget.ts'
import type { HttpReply, HttpRequest } from '../../exchange.ts'
import type { Accepts } from '../accept.ts'
import { Post } from './posts.ts'
import { ResumableStream, type StreamHost } from './resumable-stream.ts'

/** A request that belongs to no session, and its response. */
export interface SessionlessRequest {
  readonly message: RpcRequest
  /** The revision in which the request is answered. */
  readonly revision: string
  readonly request: HttpRequest
  readonly reply: HttpReply
  readonly accepts: Accepts
  /** Called when the request has been answered or cancelled. */
  onSettled(): void
}

/** What sessionless requests need from their service. */
export type SessionlessHost = Pick<StreamHost, 'log' | 'streams'>

/**
 * Serves one request of a session revision that belongs to no session, as if its client had just
 * initialized with that revision and no capabilities. Server requests are rejected, and messages that
 * do not belong to the request are dropped.
 */
export function serveSessionless(
  endpoint: Endpoint,
  host: SessionlessHost,
  exchange: SessionlessRequest,
): void {
  new SessionlessChannel(exchange, host).begin(endpoint)
}

const transport = { name: 'http' }
const INITIALIZE = 1
const REQUEST = 2

/** The channel of one request. */
class SessionlessChannel implements Channel {
  readonly requestBudget: RequestBudget | undefined
  readonly #exchange: SessionlessRequest
  readonly #post: Post
  readonly #envelope: Envelope
  #attachment: Attachment | undefined
  #sink: Sink | undefined
  #isClosed = false

  constructor(exchange: SessionlessRequest, { log, streams }: SessionlessHost) {
    const { reply, accepts, request } = exchange
    this.#exchange = exchange
    const { principal, headers, env } = request
    this.requestBudget = request.requestBudget
    this.#envelope = { principal, headers, env }
    const host = { log, streams, canPoll: false, onActivity() {}, onReleased() {} }
    this.#post = new Post(REQUEST, reply, accepts, ({ key }) => new ResumableStream(key, host))
  }

  begin(endpoint: Endpoint): void {
    const { principal } = this.#envelope
    this.#attachment = endpoint.attach(this, { principal, transport })
    const params = {
      protocolVersion: this.#exchange.revision,
      capabilities: {},
      clientInfo: { name: 'unknown', version: '0' },
    }
    const initialize = { type: 'request', id: INITIALIZE, method: 'initialize', params } as const
    void this.#sink?.receive(initialize, this.#envelope)
  }

  open(sink: Sink): void {
    this.#sink = sink
  }

  send(message: Message | readonly Message[], envelope?: Envelope): void | Promise<void> {
    if (this.#isClosed) throw new ChannelError('closed', 'sending: the request has been answered')
    // Only a batch has a batch as reply, and none is sent here.
    if (isList(message)) return
    if (message.type === 'request') {
      const error = errorObject(methodNotFound(message.method))
      this.#later(sink => void sink.receive({ type: 'error', id: message.id, error }, {}))
    } else if (message.type === 'notification') {
      if (envelope?.about === REQUEST && this.#post.canSendEvents)
        return this.#post.sendEvent(encodeForSend(message))
    } else if (message.id === INITIALIZE) {
      this.#later(sink => this.#initialized(message, sink))
    } else {
      return this.#respond(encodeForSend(this.#post.withOriginalId(message)))
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#exchange.onSettled()
    this.#sink?.closed()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #initialized(reply: Message, sink: Sink): void {
    const { message, revision } = this.#exchange
    if (reply.type === 'error') {
      void this.#respond(encodeForSend({ ...reply, id: message.id }))
      return
    }
    const result = reply.type === 'result' && isRecord(reply.result) ? reply.result : {}
    if (result.protocolVersion !== revision) {
      void this.#respond(encodeError(message.id, -32000, 'Unsupported protocol version'), 400)
      return
    }
    void sink.receive({ type: 'notification', method: 'notifications/initialized' }, this.#envelope)
    void sink.receive(this.#post.forward(message), { ...this.#envelope, about: REQUEST })
  }

  #respond(data: string, status?: number): void | Promise<void> {
    const wait = this.#post.respond(data, status)
    void this.#attachment?.close({ drainMs: 0 })
    return wait
  }

  /** Runs `then` in a microtask, because a sender is not ready to receive while it sends. */
  #later(then: (sink: Sink) => void): void {
    queueMicrotask(() => {
      if (!this.#isClosed && this.#sink !== undefined) then(this.#sink)
    })
  }
}
