import type { Writable } from 'node:stream'
import { FrameQueue } from './frame-queue.ts'

/** The length of the largest piece that is written to the stream at a time, so that progress is visible. */
const pieceLength = 64 * 1024

/** How frames are combined into writes. */
export interface Coalescing {
  /** The number of bytes that are written at once. */
  readonly bytes: number
  /** Whether frames are flushed by `setImmediate` instead of `process.nextTick`. */
  readonly flushOnImmediate?: boolean
}

/**
 * Combines frames into few writes to a stream.
 *
 * Frames are written when enough bytes have been collected, on `flush`, and otherwise in the next tick
 * or, with `flushOnImmediate`, at the end of this turn of the event loop. While the stream is busy,
 * they are held here and follow in pieces as it accepts them. `progress` is called whenever the stream
 * has accepted a piece, with an error if it failed.
 */
export class FrameWriter {
  readonly #writable: Writable
  readonly #coalescing: Coalescing
  readonly #progress: (error?: Error | null) => void
  #text = ''
  #parts: Uint8Array[] = []
  #partsBytes = 0
  readonly #held = new FrameQueue()
  #writing = 0
  #scheduled = false

  constructor(
    writable: Writable,
    coalescing: Coalescing,
    progress: (error?: Error | null) => void,
  ) {
    this.#writable = writable
    this.#coalescing = coalescing
    this.#progress = progress
  }

  /**
   * The bytes not accepted by the system yet. Text that is still collected counts one byte per
   * character.
   */
  get unsent(): number {
    return this.#collected + this.#held.unsent + this.#writable.writableLength
  }

  /** The bytes that frames take in memory until the system has accepted all of each. */
  get retained(): number {
    return this.#collected + this.#held.retained + this.#writable.writableLength
  }

  /** Whether the system has accepted everything that was written. */
  get idle(): boolean {
    return this.#writing === 0 && this.#collected === 0 && this.#held.isEmpty
  }

  /** Adds a frame. */
  write(frame: string | Uint8Array): void {
    if (typeof frame === 'string') {
      if (this.#partsBytes > 0) this.#flushParts()
      this.#text += frame
    } else {
      if (this.#text !== '') this.#flushText()
      this.#parts.push(frame)
      this.#partsBytes += frame.length
    }
    if (this.#collected >= this.#coalescing.bytes) this.flush()
    else if (!this.#scheduled) this.#schedule()
  }

  /** Writes the collected frames, as far as the stream is not busy. */
  flush(): void {
    // Behind held pieces, more is collected first: small pieces would gain nothing.
    if (!this.#held.isEmpty && this.#collected < pieceLength) return
    if (this.#text !== '') this.#flushText()
    if (this.#partsBytes > 0) this.#flushParts()
  }

  /** Drops everything that was not written to the stream yet. */
  drop(): void {
    this.#text = ''
    this.#parts = []
    this.#partsBytes = 0
    this.#held.clear()
  }

  #flushText(): void {
    const text = this.#text
    this.#text = ''
    if (text.length <= pieceLength && this.#isReady()) this.#writePiece(text)
    else this.#hold(text)
  }

  #flushParts(): void {
    const [first = empty] = this.#parts
    const bytes = this.#parts.length === 1 ? first : Buffer.concat(this.#parts)
    this.#parts = []
    this.#partsBytes = 0
    if (bytes.length <= pieceLength && this.#isReady()) this.#writePiece(bytes)
    else this.#hold(bytes)
  }

  /** The length of the frames that are still collected. */
  get #collected(): number {
    return this.#text.length + this.#partsBytes
  }

  #schedule(): void {
    this.#scheduled = true
    // nextTick runs after the promise callbacks that are due, so that their frames are written
    // together; setImmediate also after everything else that has arrived by now.
    if (this.#coalescing.flushOnImmediate) setImmediate(this.#flushLater)
    else process.nextTick(this.#flushLater)
  }

  #flushLater = (): void => {
    this.#scheduled = false
    this.flush()
  }

  #isReady(): boolean {
    return this.#held.isEmpty && this.#writable.writableLength < pieceLength
  }

  #writePiece(piece: string | Uint8Array): void {
    this.#writing++
    this.#writable.write(piece, 'utf8', this.#onAccepted)
  }

  #hold(frame: string | Uint8Array): void {
    this.#held.add(frame, pieceLength)
    this.#release()
  }

  #release(): void {
    while (this.#writable.writableLength < pieceLength) {
      const piece = this.#held.take()
      if (piece === undefined) return
      this.#writePiece(piece.bytes)
    }
  }

  #onAccepted = (error?: Error | null): void => {
    this.#writing--
    if (!this.#held.isEmpty) {
      this.#release()
      if (this.#held.isEmpty) this.flush()
    }
    this.#progress(error)
  }
}

const empty = new Uint8Array(0)
