import type { ByteSocket } from '../../transport/psk/byte-socket.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Timer } from '../../util/time/clock.ts'
import {
  type LinkFrameKind,
  LinkFrameReader,
  linkCredit,
  linkFrameKinds,
  linkText,
} from '../../wire/link-frames.ts'
import { LinkHeartbeat } from './heartbeat.ts'
import type { Hello } from './hello.ts'
import { LinkError } from './link-error.ts'
import { LinkOutput } from './output.ts'
import type { LinkSettings } from './settings.ts'
import type { LinkStreamHost, Stream } from './stream.ts'

/**
 * The side of a link: what differs between the node that dialled and the node that accepted. A returned string is the
 * reason why a frame breaks the protocol; it ends the link.
 */
export interface LinkSide {
  /** Whether this side sends the pings. */
  readonly sendsPings: boolean
  /** Reads the HELLO frame. Returns it, or the reason to refuse the link. */
  readHello(text: string): Hello | string
  /** The link is open: HELLO frames were exchanged. */
  opened(hello: Hello): void
  /** A frame that concerns no stream that is open. */
  frame(kind: LinkFrameKind, id: number, payload: Uint8Array): string | undefined
  /**
   * The link has ended; called once. The reason is one line. `byPeer` says that the other node gave it.
   */
  ended(reason: string, byPeer: boolean): void
  /** The socket has closed; called once, after `ended`. */
  closed(): void
}

/** One connection between two nodes: reads and writes frames, and keeps the streams. */
export class LinkConnection implements LinkStreamHost {
  readonly output: LinkOutput
  readonly creditBytes: number
  dataBytes: number
  /** The open streams by id. */
  readonly streams = new Map<number, Stream>()
  readonly #socket: ByteSocket
  readonly #settings: LinkSettings
  readonly #side: LinkSide
  readonly #reader: LinkFrameReader
  readonly #heartbeat: LinkHeartbeat
  /** The streams with data and credit that wait until the system accepts data. */
  readonly #waiting = new Set<Stream>()
  #deadline: Timer | undefined
  #isOpen = false
  #isOver = false

  /** Begins to read. The link must be open within `linkConnectMs`. */
  constructor(socket: ByteSocket, settings: LinkSettings, side: LinkSide) {
    const { clock, limits: own } = settings
    this.#socket = socket
    this.#settings = settings
    this.#side = side
    this.creditBytes = own.creditBytes
    this.dataBytes = own.dataBytes
    this.output = new LinkOutput(socket, limits.linkHelloBytes.default)
    this.#reader = new LinkFrameReader(
      {
        data: (id, bytes) => this.#data(id, bytes),
        frame: (kind, id, payload) => this.#frame(kind, id, payload),
        broken: reason => this.end(this.#isOpen ? reason : `it speaks another protocol: ${reason}`),
      },
      limits.linkHelloBytes.default,
    )
    this.#heartbeat = new LinkHeartbeat(
      settings,
      side.sendsPings ? () => this.output.ping() : undefined,
      () => this.#over(`nothing arrived for ${own.silentMs} ms`, false),
    )
    this.#deadline = clock.start(
      () => this.end(`no HELLO within ${own.connectMs} ms`),
      own.connectMs,
    )
    this.#deadline.unref()
    socket.start({
      data: chunk => {
        this.#heartbeat.heard()
        this.#reader.push(chunk)
      },
      drained: () => this.#drained(),
      closed: reason => {
        this.#over(reason ?? 'the connection was closed', false)
        side.closed()
      },
    })
  }

  get isOpen(): boolean {
    return this.#isOpen && !this.#isOver
  }

  remove(stream: Stream): void {
    this.streams.delete(stream.id)
    this.#waiting.delete(stream)
  }

  waitForDrain(stream: Stream): void {
    this.#waiting.add(stream)
  }

  /** Ends the link, and gives the other node the reason. */
  end(reason: string): void {
    if (this.#isOver) return
    this.output.reset(0, reason)
    this.output.flush()
    this.#over(reason, false)
  }

  #data(id: number, bytes: Uint8Array): void {
    if (!this.#isOpen) this.end('data came before HELLO')
    // A stream that was reset here may still get what was sent before the other node knew.
    else this.streams.get(id)?.receiveData(bytes)
  }

  #frame(kind: LinkFrameKind, id: number, payload: Uint8Array): void {
    if (id === 0) this.#linkFrame(kind, payload)
    else if (!this.#isOpen) this.end('another frame came before HELLO')
    else if (!this.#streamFrame(kind, this.streams.get(id), payload)) {
      const mistake = this.#side.frame(kind, id, payload)
      if (mistake !== undefined) this.end(mistake)
    }
  }

  /** Returns false if the frame is not for an open stream. */
  #streamFrame(kind: LinkFrameKind, stream: Stream | undefined, payload: Uint8Array): boolean {
    if (stream === undefined) return false
    if (kind === linkFrameKinds.head) stream.receiveHead(linkText(payload))
    else if (kind === linkFrameKinds.end) stream.receiveEnd()
    else if (kind === linkFrameKinds.credit) stream.receiveCredit(linkCredit(payload))
    else if (kind === linkFrameKinds.reset) stream.fail(new LinkError('reset', linkText(payload)))
    else return false
    return true
  }

  #linkFrame(kind: LinkFrameKind, payload: Uint8Array): void {
    if (kind === linkFrameKinds.reset) this.#over(linkText(payload), true)
    else if (kind === linkFrameKinds.hello) this.#hello(linkText(payload))
    else if (!this.#isOpen) this.end('another frame came before HELLO')
    else if (kind === linkFrameKinds.ping) this.output.pong()
    else if (kind !== linkFrameKinds.pong) this.end(`a frame of kind ${kind} names no stream`)
  }

  #hello(text: string): void {
    if (this.#isOpen) {
      this.end('a second HELLO came')
      return
    }
    const hello = this.#side.readHello(text)
    if (typeof hello === 'string') {
      this.end(hello)
      return
    }
    this.#stopDeadline()
    this.#isOpen = true
    this.#reader.maxBytes = this.#settings.limits.frameBytes
    this.output.maxFrameBytes = hello.frame
    this.dataBytes = Math.min(this.dataBytes, hello.frame)
    this.#heartbeat.start()
    this.#side.opened(hello)
  }

  /** Lets the waiting streams take turns, a frame each, until the system accepts no more. */
  #drained(): void {
    while (!this.output.isFull) {
      const [stream] = this.#waiting
      if (stream === undefined) return
      this.#waiting.delete(stream)
      if (stream.write(1)) this.#waiting.add(stream)
    }
  }

  #over(reason: string, byPeer: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#reader.stop()
    this.#stopDeadline()
    this.#heartbeat.stop()
    this.output.close()
    this.#socket.end()
    this.#side.ended(reason, byPeer)
    this.#waiting.clear()
  }

  #stopDeadline(): void {
    if (this.#deadline !== undefined) this.#settings.clock.stop(this.#deadline)
    this.#deadline = undefined
  }
}
