import type { EventStream, HttpReply } from '../../http/exchange.ts'
import type { LinkError } from '../link/link-error.ts'
import type { StreamReceiver } from '../link/link-stream.ts'
import type { EventCopy } from './event-copy.ts'
import type { ReplyHead } from './link-reply.ts'

/** Follows an attempt to forward a request. */
export interface AttemptObserver {
  /** The response is complete. */
  complete(): void
  /** The stream to the other node failed. What was copied of the response consists of whole events. */
  failed(error: LinkError): void
  /** The response is an event stream. */
  streaming(stream: EventStream): void
}

/** Copies the response of another node to the client. */
export class ForwardAttempt implements StreamReceiver {
  readonly #reply: HttpReply
  readonly #events: EventCopy
  readonly #observer: AttemptObserver
  readonly #decoder = new TextDecoder()
  #head: ReplyHead | undefined
  #stream: EventStream | undefined
  #body = ''

  constructor(reply: HttpReply, events: EventCopy, observer: AttemptObserver) {
    this.#reply = reply
    this.#events = events
    this.#observer = observer
  }

  head(text: string): void {
    // The check: only `LinkReply` of a node of the same cluster and link version writes heads.
    this.#head = JSON.parse(text) as ReplyHead
    if (!this.#head.isStream) return
    this.#stream = this.#reply.stream(this.#head.headers)
    this.#observer.streaming(this.#stream)
  }

  data(bytes: Uint8Array): void | Promise<void> {
    const text = this.#decoder.decode(bytes, { stream: true })
    if (this.#stream === undefined) {
      this.#body += text
      return
    }
    const events = this.#events.take(text)
    if (events !== '') return this.#stream.write(events)
  }

  end(): void {
    if (this.#stream !== undefined) {
      this.#stream.end()
    } else if (this.#head !== undefined && !this.#reply.isFinished) {
      const { status, headers } = this.#head
      this.#reply.send(status, headers, this.#body === '' ? undefined : this.#body)
    }
    this.#observer.complete()
  }

  failed(error: LinkError): void {
    this.#events.dropIncomplete()
    this.#observer.failed(error)
  }
}
