import { type Channel, ChannelError, type Principal, type Sink } from '../../../jsonrpc/channel.ts'
import { encodeForSend } from '../../../jsonrpc/codec/encode.ts'
import type { Batch, Message } from '../../../jsonrpc/message.ts'
import type { Attachment, Endpoint } from '../../../mcp/endpoint.ts'
import type { RequestBudget } from '../../../util/sockets/request-budget.ts'
import { writeEvent } from '../../../wire/sse.ts'
import type { EventStream, HttpReply, HttpRequest } from '../../exchange.ts'
import type { OpenStreams } from '../sse-keep-alive.ts'

const transport = { name: 'http+sse', openStreams: 1 }

/**
 * A session of the HTTP+SSE transport: a channel that receives one message per POST and sends all of
 * its messages on one event stream. The session ends with that stream.
 */
export class HttpSseSession implements Channel {
  readonly id: string
  readonly principal: Principal | undefined
  readonly requestBudget: RequestBudget | undefined
  readonly #onEnded: (session: HttpSseSession) => void
  #sink: Sink | undefined
  #attachment: Attachment | undefined
  #stream: EventStream | undefined
  #isClosed = false

  constructor(
    id: string,
    { principal, requestBudget }: HttpRequest,
    onEnded: (session: HttpSseSession) => void,
  ) {
    this.id = id
    this.principal = principal
    this.requestBudget = requestBudget
    this.#onEnded = onEnded
  }

  /** Always true for an open session, because its stream is open. */
  get isBusy(): boolean {
    return !this.#isClosed
  }

  /** Begins the stream. Its first event names the URL for messages. */
  begin(endpoint: Endpoint, reply: HttpReply, streams: OpenStreams, path: string): void {
    const stream = streams.open(reply, {})
    this.#stream = stream
    void stream.write(writeEvent({ event: 'endpoint', data: `${path}?sessionId=${this.id}` }))
    this.#attachment = endpoint.attach(this, { principal: this.principal, transport })
    reply.onDisconnect(() => void this.close())
  }

  /** Receives the message of a POST. Replies are sent on the stream. */
  receive(arrival: Message | Batch, request: HttpRequest, reply: HttpReply, bytes?: number): void {
    const { principal, headers, env } = request
    const wait = this.#sink?.receive(arrival, { principal, headers, env }, bytes)
    const accept = (): void => {
      if (!reply.isFinished) reply.send(202, {})
    }
    if (wait instanceof Promise) wait.then(accept, accept)
    else accept()
  }

  /** Ends the session after waiting up to `drainMs` for requests in flight; by default at once. */
  end(options: { readonly drainMs?: number } = { drainMs: 0 }): Promise<void> {
    if (options.drainMs === 0) this.#onEnded(this)
    return this.#attachment?.close(options) ?? this.close()
  }

  open(sink: Sink): void {
    this.#sink = sink
  }

  send(message: Message | readonly Message[]): void | Promise<void> {
    if (this.#isClosed) throw new ChannelError('closed', 'sending: the session has ended')
    return this.#stream?.write(writeEvent({ event: 'message', data: encodeForSend(message) }))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stream?.end()
    this.#onEnded(this)
    this.#sink?.closed()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
