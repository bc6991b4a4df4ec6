import type { ByteSocket } from '../../transport/psk/byte-socket.ts'
import { type LinkFrameKind, linkFrameKinds, linkText } from '../../wire/link-frames.ts'
import { LinkConnection, type LinkSide } from './connection.ts'
import { type Hello, readHello, writeHello } from './hello.ts'
import { LinkError } from './link-error.ts'
import type { LinkStream, StreamReceiver } from './link-stream.ts'
import { LinkRequests } from './requests.ts'
import type { LinkSettings } from './settings.ts'
import { type LinkStreamHost, Stream } from './stream.ts'

/** Another node, and the address at which it accepts links. */
export interface LinkPeer {
  readonly node: string
  readonly address: string
}

const maxId = 0xffffffff

/** A link that this node has dialled. What is opened before the link is open follows when it is. */
export class OutgoingLink implements LinkSide {
  readonly sendsPings = true
  readonly #peer: LinkPeer
  readonly #settings: LinkSettings
  readonly #connection: LinkConnection
  readonly #requests: LinkRequests
  readonly #onEnded: () => void
  readonly #onClosed: () => void
  /** The streams that wait until the link is open, with their heads. */
  readonly #unopened = new Map<Stream, string>()
  #maxStreams: number
  #window = 0
  #lastId = 0
  /** The code for streams that were not sent when the link ends. */
  #unsentCode: 'refused' | 'closed' = 'refused'

  /**
   * Begins to connect: `dial` gives the socket and calls `connected` when it is open. Calls `ended` when the link cannot
   * be used any more, and `closed` when its socket has closed. Throws what `dial` throws.
   */
  constructor(
    peer: LinkPeer,
    settings: LinkSettings,
    dial: (connected: () => void) => ByteSocket,
    on: { readonly ended: () => void; readonly closed: () => void },
  ) {
    this.#peer = peer
    this.#settings = settings
    this.#onEnded = on.ended
    this.#onClosed = on.closed
    this.#maxStreams = settings.limits.streams
    this.#connection = new LinkConnection(
      dial(() => this.#greet()),
      settings,
      this,
    )
    this.#requests = new LinkRequests(this.#connection.output, settings.clock)
  }

  /** Opens a stream. It fails later, never during this call. */
  open(head: string, receiver: StreamReceiver): LinkStream {
    if (this.#isFull) return failedStream(receiver, this.#tooMany())
    const stream = new Stream(this.#connection, this.#nextId(), receiver)
    this.#connection.streams.set(stream.id, stream)
    if (this.#connection.isOpen) this.#begin(stream, head)
    else this.#unopened.set(stream, head)
    return stream
  }

  /** Asks the other node. Rejects with a LinkError. */
  request(text: string, timeoutMs: number): Promise<string> {
    if (this.#isFull) return Promise.reject(this.#tooMany())
    const id = this.#nextId()
    const reply = this.#requests.add(id, text, timeoutMs)
    if (this.#connection.isOpen) this.#requests.send(id)
    return reply
  }

  /** Ends the link. `unsent` is the code for streams and requests that were never sent. */
  close(reason: string, unsent: 'refused' | 'closed'): void {
    this.#unsentCode = unsent
    this.#connection.end(reason)
  }

  readHello(text: string): Hello | string {
    return readHello(text, this.#settings, this.#peer.node)
  }

  opened(hello: Hello): void {
    this.#window = hello.credit
    this.#maxStreams = Math.min(this.#maxStreams, hello.streams)
    for (const [stream, head] of this.#unopened) {
      // One that was reset meanwhile is never opened.
      if (this.#connection.streams.has(stream.id)) this.#begin(stream, head)
    }
    this.#unopened.clear()
    this.#requests.sendAll()
  }

  frame(kind: LinkFrameKind, id: number, payload: Uint8Array): string | undefined {
    if (kind === linkFrameKinds.reply) this.#requests.replied(id, linkText(payload))
    else if (kind === linkFrameKinds.reset) this.#requests.reset(id, linkText(payload))
    else if (kind === linkFrameKinds.open || kind === linkFrameKinds.request) {
      return 'only the node that has dialled opens streams'
    }
    return undefined
  }

  ended(reason: string, byPeer: boolean): void {
    this.#onEnded()
    const message = this.#describe(reason, byPeer)
    for (const stream of [...this.#connection.streams.values()]) {
      stream.fail(new LinkError(stream.isSent ? 'lost' : this.#unsentCode, message))
    }
    this.#unopened.clear()
    this.#requests.failAll(message, this.#unsentCode)
  }

  closed(): void {
    this.#onClosed()
  }

  #greet(): void {
    const { output } = this.#connection
    output.text(linkFrameKinds.hello, 0, writeHello(this.#settings, this.#peer.node))
    output.flush()
  }

  #begin(stream: Stream, head: string): void {
    const { output } = this.#connection
    if (output.text(linkFrameKinds.open, stream.id, head)) {
      stream.begin(this.#window)
      return
    }
    const message = `the head has more than ${output.maxFrameBytes} bytes`
    queueMicrotask(() => stream.fail(new LinkError('refused', message)))
  }

  get #isFull(): boolean {
    return this.#connection.streams.size + this.#requests.size >= this.#maxStreams
  }

  #tooMany(): LinkError {
    const message = `${this.#maxStreams} streams to node ${this.#peer.node} are in flight already`
    return new LinkError('too-many', message)
  }

  /** Returns an id that is not in use; the numbers begin again after 2³². */
  #nextId(): number {
    do {
      this.#lastId = this.#lastId === maxId ? 1 : this.#lastId + 1
    } while (this.#connection.streams.has(this.#lastId) || this.#requests.has(this.#lastId))
    return this.#lastId
  }

  #describe(reason: string, byPeer: boolean): string {
    const { node, address } = this.#peer
    if (this.#window > 0) return `the link to node ${node} at ${address} ended: ${reason}`
    const what = byPeer
      ? `node ${node} at ${address} refused the link`
      : `connecting to node ${node} at ${address}`
    return `${what}: ${reason}`
  }
}

/** Returns a stream that fails with this error in the next microtask. */
export function failedStream(receiver: StreamReceiver, error: LinkError): LinkStream {
  const stream = new Stream(nowhere, 0, receiver)
  queueMicrotask(() => stream.fail(error))
  return stream
}

const nowhere: LinkStreamHost = {
  output: undefined,
  creditBytes: 0,
  dataBytes: 0,
  remove: () => {},
  waitForDrain: () => {},
}
