import { type Channel, ChannelError, type Principal, type Sink } from '../../../jsonrpc/channel.ts'
import { textOf } from '../../../jsonrpc/codec/text.ts'
import type { Batch, Message } from '../../../jsonrpc/message.ts'
import type { Attachment, Endpoint } from '../../../mcp/endpoint.ts'
import { writeEvent } from '../../../wire/sse.ts'
import type { EventStream, HttpReply, HttpRequest } from '../../exchange.ts'

/**
 * A session of revision 2024-11-05 over HTTP: a channel whose messages come by one POST each and all
 * leave on one event stream. When that ends, so does the session.
 */
export class SseSession implements Channel {
  readonly id: string
  readonly principal: Principal | undefined
  readonly #onEnded: (session: SseSession) => void
  #sink: Sink | undefined
  #attachment: Attachment | undefined
  #stream: EventStream | undefined
  #isClosed = false

  constructor(
    id: string,
    principal: Principal | undefined,
    onEnded: (session: SseSession) => void,
  ) {
    this.id = id
    this.principal = principal
    this.#onEnded = onEnded
  }

  /** Its stream is open as long as it lives. */
  get isBusy(): boolean {
    return !this.#isClosed
  }

  /** Begins the stream, whose first event says where messages are to be sent. */
  begin(endpoint: Endpoint, reply: HttpReply, path: string): void {
    const stream = reply.stream({})
    this.#stream = stream
    void stream.write(writeEvent({ event: 'endpoint', data: `${path}?sessionId=${this.id}` }))
    this.#attachment = endpoint.attach(this, { principal: this.principal })
    reply.onGone(() => void this.close())
  }

  /** Takes what a POST brought; its replies come on the stream. */
  receive(arrival: Message | Batch, request: HttpRequest, reply: HttpReply): void {
    const { principal, headers } = request
    const wait = this.#sink?.receive(arrival, { principal, headers })
    const accept = (): void => {
      if (!reply.isOver) reply.send(202, {})
    }
    if (wait instanceof Promise) wait.then(accept, accept)
    else accept()
  }

  /** Ends the session; what is in flight is answered within `drainMs`, by default not at all. */
  end(options: { readonly drainMs?: number } = { drainMs: 0 }): Promise<void> {
    if (options.drainMs === 0) this.#onEnded(this)
    return this.#attachment?.close(options) ?? this.close()
  }

  open(sink: Sink): void {
    this.#sink = sink
  }

  send(message: Message | readonly Message[]): void | Promise<void> {
    if (this.#isClosed) throw new ChannelError('closed', 'sending: the session has ended')
    return this.#stream?.write(writeEvent({ event: 'message', data: textOf(message) }))
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
