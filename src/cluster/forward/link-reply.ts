import type { EventStream, HttpReply, ReplyHeaders } from '../../http/exchange.ts'
import type { LinkStream } from '../link/link-stream.ts'

/** The head of a response on a link. The body follows it: all of it, or the text of an event stream as it is written. */
export interface ReplyHead {
  readonly status: number
  readonly headers: ReplyHeaders
  /** Whether the body is an event stream. */
  readonly isStream: boolean
}

/** Sends the response to a forwarded request back over its link. */
export class LinkReply implements HttpReply {
  readonly #stream: LinkStream
  #listeners: (() => void)[] = []
  #isFinished = false

  constructor(stream: LinkStream) {
    this.#stream = stream
  }

  get isFinished(): boolean {
    return this.#isFinished
  }

  send(status: number, headers: ReplyHeaders, body?: string): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#listeners = []
    this.#stream.sendHead(headText({ status, headers, isStream: false }))
    if (body !== undefined && body !== '') void this.#stream.send(utf8.encode(body))
    this.#stream.end()
  }

  stream(headers: ReplyHeaders): EventStream {
    if (!this.#isFinished) {
      this.#stream.sendHead(headText({ status: 200, headers, isStream: true }))
    }
    return {
      write: text => (this.#isFinished ? undefined : this.#stream.send(utf8.encode(text))),
      end: () => {
        if (this.#isFinished) return
        this.#isFinished = true
        this.#listeners = []
        this.#stream.end()
      },
    }
  }

  onDisconnect(listener: () => void): void {
    if (!this.#isFinished) this.#listeners.push(listener)
  }

  /** Called when the client has disconnected from the other node, or the link has closed. */
  disconnected(): void {
    if (this.#isFinished) return
    this.#isFinished = true
    for (const listener of this.#listeners) listener()
    this.#listeners = []
  }
}

function headText(head: ReplyHead): string {
  return JSON.stringify(head)
}

const utf8 = new TextEncoder()
