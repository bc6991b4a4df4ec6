import type { Writable } from 'node:stream'

/** More than this is not handed to the stream at a time, so that progress can be seen. */
const pieceBytes = 64 * 1024

/** How frames are gathered. */
export interface Gathering {
  /** With as many they leave at once. */
  readonly bytes: number
  readonly byTurns?: boolean
}

/**
 * Gathers frames and writes them to a stream in few pieces.
 *
 * Frames leave when so many bytes have gathered, on `flush`, and otherwise once the code that is
 * running has finished, or, `byTurns`, at the end of this turn of the event loop. While the stream
 * has enough to do, they wait here, cut into pieces, and follow as it takes them. `progress` is
 * called whenever the stream has taken a piece, with an error if it could not.
 */
export class FrameWriter {
  readonly #writable: Writable
  readonly #gather: Gathering
  readonly #progress: (error?: Error | null) => void
  #text = ''
  #parts: Uint8Array[] = []
  #partsBytes = 0
  #held: Uint8Array[] = []
  #heldBytes = 0
  #writing = 0
  #scheduled = false

  constructor(writable: Writable, gather: Gathering, progress: (error?: Error | null) => void) {
    this.#writable = writable
    this.#gather = gather
    this.#progress = progress
  }

  /** Bytes not taken by the system yet. Text still being gathered counts one byte a character. */
  get unsent(): number {
    return this.#text.length + this.#partsBytes + this.#heldBytes + this.#writable.writableLength
  }

  /** Whether everything given to the writer has been taken by the system. */
  get idle(): boolean {
    return this.#writing === 0 && this.#text === '' && this.#partsBytes + this.#heldBytes === 0
  }

  write(frame: string | Uint8Array): void {
    if (typeof frame === 'string') {
      if (this.#partsBytes > 0) this.#flushParts()
      this.#text += frame
    } else {
      if (this.#text !== '') this.#flushText()
      this.#parts.push(frame)
      this.#partsBytes += frame.length
    }
    if (this.#text.length + this.#partsBytes >= this.#gather.bytes) this.flush()
    else if (!this.#scheduled) this.#schedule()
  }

  /** Hands over what has gathered, as far as the stream has room. */
  flush(): void {
    // Behind pieces that wait, more is gathered: cutting it small would gain nothing.
    if (this.#heldBytes > 0 && this.#text.length + this.#partsBytes < pieceBytes) return
    if (this.#text !== '') this.#flushText()
    if (this.#partsBytes > 0) this.#flushParts()
  }

  /** Forgets everything that the stream has not been given yet. */
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
    if (text.length <= pieceBytes && this.#hasRoom()) this.#hand(text)
    else this.#hold(Buffer.from(text, 'utf8'))
  }

  #flushParts(): void {
    const [first = empty] = this.#parts
    const bytes = this.#parts.length === 1 ? first : Buffer.concat(this.#parts)
    this.#parts = []
    this.#partsBytes = 0
    if (bytes.length <= pieceBytes && this.#hasRoom()) this.#hand(bytes)
    else this.#hold(bytes)
  }

  #schedule(): void {
    this.#scheduled = true
    // Runs after the promise callbacks that are due, so that their frames leave together; the other also
    // after everything else that has arrived by now.
    if (this.#gather.byTurns) setImmediate(this.#flushLater)
    else process.nextTick(this.#flushLater)
  }

  #flushLater = (): void => {
    this.#scheduled = false
    this.flush()
  }

  #hasRoom(): boolean {
    return this.#heldBytes === 0 && this.#writable.writableLength < pieceBytes
  }

  #hand(piece: string | Uint8Array): void {
    this.#writing++
    this.#writable.write(piece, 'utf8', this.#taken)
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
      // The check: at is below length.
      const piece = this.#held[at++] as Uint8Array
      this.#heldBytes -= piece.length
      this.#hand(piece)
    }
    if (at > 0) this.#held.splice(0, at)
  }

  #taken = (error?: Error | null): void => {
    this.#writing--
    if (this.#heldBytes > 0) {
      this.#release()
      if (this.#heldBytes === 0) this.flush()
    }
    this.#progress(error)
  }
}

const empty = new Uint8Array(0)
