import type { ByteSocket } from '../../transport/psk/byte-socket.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { type LinkFrameKind, linkFrameKinds, linkText } from '../../wire/link-frames.ts'
import { LinkConnection, type LinkSide } from './connection.ts'
import { type Hello, readHello, writeHello } from './hello.ts'
import { LinkError } from './link-error.ts'
import type { LinkStream, StreamReceiver } from './link-stream.ts'
import type { LinkSettings } from './settings.ts'
import { Stream } from './stream.ts'

/** Answers the streams and requests of other nodes. */
export interface LinkHandlers {
  /** Called for each stream that another node opens. Returns its receiver. If it throws, the stream is reset. */
  readonly onStream: (stream: LinkStream, head: string, from: string) => StreamReceiver
  /** Answers a request of another node. If it rejects, the other node gets the message of the error. */
  readonly onRequest: (text: string, from: string) => Promise<string>
}

/** A link that another node has dialled. */
export class IncomingLink implements LinkSide {
  readonly sendsPings = false
  readonly #settings: LinkSettings
  readonly #handlers: LinkHandlers
  readonly #connection: LinkConnection
  readonly #onEnded: (error: Error) => void
  readonly #onClosed: () => void
  /** The requests that were not answered yet. */
  readonly #answering = new Set<number>()
  #window = 0
  #from: string | undefined

  /** Waits for HELLO. Calls `ended` when the link has ended, and `closed` when its socket has closed. */
  constructor(
    socket: ByteSocket,
    settings: LinkSettings,
    handlers: LinkHandlers,
    on: { readonly ended: (error: Error) => void; readonly closed: () => void },
  ) {
    this.#settings = settings
    this.#handlers = handlers
    this.#onEnded = on.ended
    this.#onClosed = on.closed
    this.#connection = new LinkConnection(socket, settings, this)
  }

  /** The node that has dialled; undefined until its HELLO has come. */
  get from(): string | undefined {
    return this.#from
  }

  /** Ends the link. */
  close(reason: string): void {
    this.#connection.end(reason)
  }

  readHello(text: string): Hello | string {
    return readHello(text, this.#settings)
  }

  opened(hello: Hello): void {
    this.#from = hello.node
    this.#window = hello.credit
    const { output } = this.#connection
    output.text(linkFrameKinds.hello, 0, writeHello(this.#settings, hello.node))
    output.flush()
  }

  frame(kind: LinkFrameKind, id: number, payload: Uint8Array): string | undefined {
    if (kind === linkFrameKinds.open) return this.#open(id, linkText(payload))
    if (kind === linkFrameKinds.request) return this.#request(id, linkText(payload))
    if (kind === linkFrameKinds.reset) this.#answering.delete(id)
    return kind === linkFrameKinds.reply ? 'a reply came without a request' : undefined
  }

  ended(reason: string, byPeer: boolean): void {
    const who = this.#from === undefined ? 'a connection' : `the link of node ${this.#from}`
    const message =
      this.#from === undefined && !byPeer ? `refused ${who}: ${reason}` : `${who} ended: ${reason}`
    this.#answering.clear()
    for (const stream of [...this.#connection.streams.values()]) {
      stream.fail(new LinkError('lost', message))
    }
    this.#onEnded(new Error(message))
  }

  closed(): void {
    this.#onClosed()
  }

  #open(id: number, head: string): string | undefined {
    if (this.#isUsed(id)) return `the stream ${id} was opened twice`
    if (this.#refuseMore(id)) return undefined
    const stream = new Stream(this.#connection, id)
    this.#connection.streams.set(id, stream)
    stream.begin(this.#window)
    try {
      stream.receiver = this.#handlers.onStream(stream, head, this.#from ?? '')
    } catch (error) {
      stream.reset(errorMessage(error))
    }
    return undefined
  }

  #request(id: number, text: string): string | undefined {
    if (this.#isUsed(id)) return `the stream ${id} was opened twice`
    if (!this.#refuseMore(id)) void this.#answer(id, text)
    return undefined
  }

  async #answer(id: number, text: string): Promise<void> {
    const { output } = this.#connection
    this.#answering.add(id)
    try {
      const reply = await this.#handlers.onRequest(text, this.#from ?? '')
      if (!this.#answering.delete(id)) return
      if (output.text(linkFrameKinds.reply, id, reply)) return
      output.reset(id, `the reply has more than ${output.maxFrameBytes} bytes`)
    } catch (error) {
      if (this.#answering.delete(id)) output.reset(id, errorMessage(error))
    }
  }

  #isUsed(id: number): boolean {
    return this.#connection.streams.has(id) || this.#answering.has(id)
  }

  #refuseMore(id: number): boolean {
    const { streams } = this.#settings.limits
    if (this.#connection.streams.size + this.#answering.size < streams) return false
    this.#connection.output.reset(id, `${streams} streams are in flight already`)
    return true
  }
}
