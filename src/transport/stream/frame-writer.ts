import type { Writable } from 'node:stream'

/** The largest piece that is written to the stream at a time, so that progress is visible. */
const pieceBytes = 64 * 1024

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
 * they are held here in pieces and follow as it accepts them. `progress` is called whenever the stream
 * has accepted a piece, with an error if it failed.
 */
export class FrameWriter {
  readonly #writable: Writable
  readonly #coalescing: Coalescing
  readonly #progress: (error?: Error | null) => void
  #text = ''
  #parts: Uint8Array[] = []
  #partsBytes = 0
  #held: Uint8Array[] = []
  #heldBytes = 0
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
    return this.#text.length + this.#partsBytes + this.#heldBytes + this.#writable.writableLength
  }

  /** Whether the system has accepted everything that was written. */
  get idle(): boolean {
    return this.#writing === 0 && this.#text === '' && this.#partsBytes + this.#heldBytes === 0
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
    if (this.#text.length + this.#partsBytes >= this.#coalescing.bytes) this.flush()
    else if (!this.#scheduled) this.#schedule()
  }

  /** Writes the collected frames, as far as the stream is not busy. */
  flush(): void {
    // Behind held pieces, more is collected first: small pieces would gain nothing.
    if (this.#heldBytes > 0 && this.#text.length + this.#partsBytes < pieceBytes) return
    if (this.#text !== '') this.#flushText()
    if (this.#partsBytes > 0) this.#flushParts()
  }

  /** Drops everything that was not written to the stream yet. */
  drop(): void {
    this.#text = ''
    this.#parts = []
    this.#held = []
    this.#partsBytes = 0
    this.#heldBytes = 0
  }

  #flushText(): void {
    const text = this.#text
    this.#text = ''
    if (text.length <= pieceBytes && this.#isReady()) this.#writePiece(text)
    else this.#hold(Buffer.from(text, 'utf8'))
  }

  #flushParts(): void {
    const [first = empty] = this.#parts
    const bytes = this.#parts.length === 1 ? first : Buffer.concat(this.#parts)
    this.#parts = []
    this.#partsBytes = 0
    if (bytes.length <= pieceBytes && this.#isReady()) this.#writePiece(bytes)
    else this.#hold(bytes)
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
    return this.#heldBytes === 0 && this.#writable.writableLength < pieceBytes
  }

  #writePiece(piece: string | Uint8Array): void {
    this.#writing++
    this.#writable.write(piece, 'utf8', this.#onAccepted)
  }

  #hold(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      this.#held.push(bytes.subarray(at, at + pieceBytes))
    }
    this.#heldBytes += bytes.length
    this.#release()
  }

  #release(): void {
    let at = 0
    while (at < this.#held.length && this.#writable.writableLength < pieceBytes) {
      // The check: at is less than length.
      const piece = this.#held[at++] as Uint8Array
      this.#heldBytes -= piece.length
      this.#writePiece(piece)
    }
    if (at > 0) this.#held.splice(0, at)
  }

  #onAccepted = (error?: Error | null): void => {
    this.#writing--
    if (this.#heldBytes > 0) {
      this.#release()
      if (this.#heldBytes === 0) this.flush()
    }
    this.#progress(error)
  }
}

const empty = new Uint8Array(0)
