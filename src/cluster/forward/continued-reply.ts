import type { EventStream, HttpReply, ReplyHeaders } from '../../http/exchange.ts'

/**
 * Continues an event stream that another node began, after that node has gone: the client keeps its connection and
 * gets the rest on it.
 */
export class ContinuedReply implements HttpReply {
  readonly #reply: HttpReply
  readonly #stream: EventStream
  readonly #onRefused: () => void

  /** `onRefused` is called if the stream cannot be resumed. It ends the stream. */
  constructor(reply: HttpReply, stream: EventStream, onRefused: () => void) {
    this.#reply = reply
    this.#stream = stream
    this.#onRefused = onRefused
  }

  get isFinished(): boolean {
    return this.#reply.isFinished
  }

  send(): void {
    this.#onRefused()
  }

  stream(_headers: ReplyHeaders): EventStream {
    return this.#stream
  }

  onDisconnect(listener: () => void): void {
    this.#reply.onDisconnect(listener)
  }
}
