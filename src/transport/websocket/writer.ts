import type { Duplex } from 'node:stream'
import { limits } from '../../util/limits/limits.ts'
import { FrameQueue } from '../stream/frame-queue.ts'
import type { WebSocket } from './ws.ts'

/** A longer message is sent in fragments, so that a slow peer can be distinguished from a dead one. */
const pieceLength = 256 * 1024

/** The peer may limit the number of fragments, probably not more generously than we do. */
const maxPieces = limits.websocketFragments.default / 2

/**
 * The maximum length of joined messages, in characters. Small enough not to delay their responses, and
 * never over the limit of the receiver, for which a character can take three bytes.
 */
const joinedLength = limits.websocketJoinedBytes.default / 4

/** How messages are combined. */
export interface WebSocketCoalescing {
  /** Whether messages are flushed by `setImmediate` instead of `process.nextTick`. */
  readonly flushOnImmediate?: boolean
  /** Whether the peer accepts several messages as one, each on its own line. */
  readonly joins?: boolean
}

/**
 * Writes text messages to a WebSocket; the messages of one tick, or of one turn of the event loop, are
 * sent together.
 *
 * Long messages are held here and follow fragment by fragment as the stream accepts them, and later
 * messages wait behind them. `progress` is called whenever the stream has accepted something.
 */
export class WebSocketWriter {
  readonly #ws: WebSocket
  readonly #stream: Duplex
  readonly #progress: () => void
  readonly #coalescing: WebSocketCoalescing
  /** Short messages that will be sent as one. */
  #joined = ''
  readonly #held = new FrameQueue()
  #corked = false
  /** The number of writes that the system has accepted. */
  accepted = 0

  constructor(
    ws: WebSocket,
    stream: Duplex,
    progress: () => void,
    coalescing: WebSocketCoalescing = {},
  ) {
    this.#ws = ws
    this.#stream = stream
    this.#progress = progress
    this.#coalescing = coalescing
  }

  /** The bytes not accepted by the system yet. */
  get unsent(): number {
    return this.#ws.bufferedAmount + this.#held.unsent + this.#joined.length
  }

  /** The bytes that messages take in memory until the system has accepted all of each. */
  get retained(): number {
    return this.#ws.bufferedAmount + this.#held.retained + this.#joined.length
  }

  /** Whether nothing is held here, so that a close frame can follow. */
  get idle(): boolean {
    return this.#held.isEmpty && this.#joined === ''
  }

  /** Adds a message. */
  write(text: string): void {
    this.#cork()
    const isJoined = this.#coalescing.joins === true && text.length < joinedLength
    if (!isJoined || this.#joined.length + text.length >= joinedLength) this.#putJoined()
    if (!isJoined) this.#put(text)
    else this.#joined = this.#joined === '' ? text : `${this.#joined}\n${text}`
  }

  /** Drops everything that was not written to the stream yet. */
  drop(): void {
    this.#joined = ''
    this.#held.clear()
  }

  #putJoined(): void {
    const joined = this.#joined
    this.#joined = ''
    if (joined !== '') this.#put(joined)
  }

  #put(text: string): void {
    if (this.#held.isEmpty && text.length <= pieceLength) {
      this.#ws.send(text, this.#onAccepted)
      return
    }
    this.#held.add(text, Math.max(pieceLength, Math.ceil(text.length / maxPieces)))
    this.#release()
  }

  #release(): void {
    while (this.#ws.bufferedAmount < pieceLength) {
      const piece = this.#held.take()
      if (piece === undefined) return
      this.#ws.send(piece.bytes, { binary: false, fin: piece.isLast }, this.#onAccepted)
    }
  }

  #cork(): void {
    if (this.#corked) return
    this.#corked = true
    this.#stream.cork()
    // nextTick runs after the promise callbacks that are due, so that their messages are sent together;
    // setImmediate also after everything else that has arrived by now.
    if (this.#coalescing.flushOnImmediate) setImmediate(this.#uncork)
    else process.nextTick(this.#uncork)
  }

  #uncork = (): void => {
    this.#corked = false
    this.#putJoined()
    this.#stream.uncork()
  }

  /** Reports that the system has accepted a write, by this writer or by others on the same stream. */
  wasAccepted(): void {
    this.accepted++
    if (!this.#held.isEmpty) this.#release()
    this.#progress()
  }

  #onAccepted = (error?: Error | null): void => {
    if (error) this.#progress()
    else this.wasAccepted()
  }
}
