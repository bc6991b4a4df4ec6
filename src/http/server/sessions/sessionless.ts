import { type Channel, ChannelError, type Envelope, type Sink } from '../../../jsonrpc/channel.ts'
import { encodeError } from '../../../jsonrpc/codec/encode.ts'
import { textOf } from '../../../jsonrpc/codec/text.ts'
import { errorObject, methodNotFound } from '../../../jsonrpc/error.ts'
import { isList, type Message, type RpcRequest } from '../../../jsonrpc/message.ts'
import type { Attachment, Endpoint } from '../../../mcp/endpoint.ts'
import { isRecord } from '../../../util/record.ts'
import type { HttpReply, HttpRequest } from '../../exchange.ts'
import type { Accepts } from '../accept.ts'
import type { EventLog } from './event-log.ts'
import { Post } from './post.ts'
import { Outlet } from './resumable-stream.ts'

/** A request that belongs to no session, and the way back. */
export interface Sessionless {
  readonly message: RpcRequest
  /** The revision it is to be answered in. */
  readonly revision: string
  readonly request: HttpRequest
  readonly reply: HttpReply
  readonly accepts: Accepts
  /** It has been answered, or nobody waits for it any more. */
  onSettled(): void
}

/**
 * Answers one request of a session revision that belongs to no session, as if its client had just
 * initialized with that revision and said that it can do nothing. What it would be asked is refused,
 * and what has nothing to do with the request is dropped.
 */
export function answerOnce(endpoint: Endpoint, log: EventLog, asked: Sessionless): void {
  new Once(asked, log).begin(endpoint)
}

const INITIALIZE = 1
const REQUEST = 2

/** A channel for one request. */
class Once implements Channel {
  readonly #asked: Sessionless
  readonly #post: Post
  readonly #envelope: Envelope
  #attachment: Attachment | undefined
  #sink: Sink | undefined
  #isClosed = false

  constructor(asked: Sessionless, log: EventLog) {
    const { reply, accepts, request } = asked
    this.#asked = asked
    const { principal, headers } = request
    this.#envelope = { principal, headers }
    const host = { log, isPolling: false, onMoved() {}, onForgotten() {} }
    this.#post = new Post(REQUEST, reply, accepts, key => new Outlet(key, host))
  }

  begin(endpoint: Endpoint): void {
    const { principal } = this.#envelope
    this.#attachment = endpoint.attach(this, { principal })
    const params = {
      protocolVersion: this.#asked.revision,
      capabilities: {},
      clientInfo: { name: 'unknown', version: '0' },
    }
    const opening = { type: 'request', id: INITIALIZE, method: 'initialize', params } as const
    void this.#sink?.receive(opening, this.#envelope)
  }

  open(sink: Sink): void {
    this.#sink = sink
  }

  send(message: Message | readonly Message[], envelope?: Envelope): void | Promise<void> {
    if (this.#isClosed) throw new ChannelError('closed', 'sending: the request has been answered')
    // Only a batch is answered by one.
    if (isList(message)) return
    if (message.type === 'request') {
      const error = errorObject(methodNotFound(message.method))
      this.#later(sink => void sink.receive({ type: 'error', id: message.id, error }, {}))
    } else if (message.type === 'notification') {
      if (envelope?.about === REQUEST && this.#post.canTell) return this.#post.tell(textOf(message))
    } else if (message.id === INITIALIZE) {
      this.#later(sink => this.#initialized(message, sink))
    } else {
      return this.#answer(textOf(this.#post.original(message)))
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#asked.onSettled()
    this.#sink?.closed()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #initialized(reply: Message, sink: Sink): void {
    const { message, revision } = this.#asked
    if (reply.type === 'error') {
      void this.#answer(textOf({ ...reply, id: message.id }))
      return
    }
    const result = reply.type === 'result' && isRecord(reply.result) ? reply.result : {}
    if (result.protocolVersion !== revision) {
      void this.#answer(encodeError(message.id, -32000, 'Unsupported protocol version'), 400)
      return
    }
    void sink.receive({ type: 'notification', method: 'notifications/initialized' }, this.#envelope)
    void sink.receive(this.#post.ask(message), { ...this.#envelope, about: REQUEST })
  }

  #answer(data: string, status?: number): void | Promise<void> {
    const wait = this.#post.answer(data, status)
    void this.#attachment?.close({ drainMs: 0 })
    return wait
  }

  /** Not in the middle of sending: whoever sends is not ready to receive. */
  #later(then: (sink: Sink) => void): void {
    queueMicrotask(() => {
      if (!this.#isClosed && this.#sink !== undefined) then(this.#sink)
    })
  }
}
