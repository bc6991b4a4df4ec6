import type { ByteSocket } from '../../transport/psk/byte-socket.ts'
import { limits } from '../../util/limits/limits.ts'
import { LinkFrameBatch, type LinkTextKind, linkFrameKinds } from '../../wire/link-frames.ts'

/** The size of a batch that is written at once, before the turn ends. */
const batchBytes = 64 * 1024

/**
 * Writes the frames of a link. Frames of one turn of the event loop leave in one write; a batch that becomes large
 * leaves earlier.
 */
export class LinkOutput {
  /** The largest payload that the other node accepts. */
  maxFrameBytes: number
  readonly #socket: ByteSocket
  readonly #batch = new LinkFrameBatch()
  #batches = 0
  #isScheduled = false
  #isClosed = false

  constructor(socket: ByteSocket, maxFrameBytes: number) {
    this.#socket = socket
    this.maxFrameBytes = maxFrameBytes
  }

  /** The number of the batch that is being collected: smaller ones were written to the socket. */
  get batch(): number {
    return this.#batches
  }

  /** Whether the system accepts data more slowly than it is sent. Then data waits, and other frames do not. */
  get isFull(): boolean {
    return this.#socket.unsent + this.#batch.size >= limits.outboundHighWaterBytes.default
  }

  /** Sends a frame of text. Returns false if the text is longer than the other node accepts. */
  text(kind: LinkTextKind, stream: number, text: string): boolean {
    const isSent = this.#batch.text(kind, stream, text, this.maxFrameBytes)
    if (isSent) this.#added()
    return isSent
  }

  /** Sends `bytes[start, end)` as one frame. */
  data(stream: number, bytes: Uint8Array, start: number, end: number): void {
    this.#batch.data(stream, bytes, start, end)
    this.#added()
  }

  /** Sends the end of this direction of a stream. */
  end(stream: number): void {
    this.#batch.signal(linkFrameKinds.end, stream)
    this.#added()
  }

  /** Allows the other node to send this many more bytes. */
  credit(stream: number, bytes: number): void {
    this.#batch.credit(stream, bytes)
    this.#added()
  }

  /** Sends the end of both directions of a stream. A long reason is cut. */
  reset(stream: number, reason: string): void {
    this.text(linkFrameKinds.reset, stream, reason.slice(0, maxReasonLength))
  }

  ping(): void {
    this.#batch.signal(linkFrameKinds.ping, 0)
    this.#added()
  }

  pong(): void {
    this.#batch.signal(linkFrameKinds.pong, 0)
    this.#added()
  }

  /** Writes the batch to the socket. */
  flush(): void {
    if (this.#batch.size === 0 || this.#isClosed) return
    this.#batches++
    this.#socket.write(this.#batch.take())
  }

  /** Drops what was not written, and everything from now on. */
  close(): void {
    this.#isClosed = true
    this.#batch.take()
  }

  #added(): void {
    if (this.#isClosed) {
      this.#batch.take()
      return
    }
    if (this.#batch.size >= batchBytes) this.flush()
    else if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(this.#flushLater)
    }
  }

  #flushLater = (): void => {
    this.#isScheduled = false
    this.flush()
  }
}

const maxReasonLength = 300
