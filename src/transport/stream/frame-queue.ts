/** A part of a frame, as bytes. */
export interface FramePiece {
  readonly bytes: Buffer
  /** Whether it is the end of its frame. */
  readonly isLast: boolean
}

/**
 * Frames that wait until a stream accepts them, piece by piece. Texts stay texts until then, because the
 * bytes of one that is never sent would only take memory.
 */
export class FrameQueue {
  #frames: Waiting[] = []
  #retained = 0
  /** How much of the first frame was taken: as an index and in bytes. */
  #at = 0
  #takenBytes = 0

  /** The bytes that frames take in memory until all of each was taken. */
  get retained(): number {
    return this.#retained
  }

  /** The bytes that were not taken yet; for a text as much as it takes in memory, if that is more. */
  get unsent(): number {
    return this.#retained - this.#takenBytes
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0
  }

  /** Adds a frame, which is taken in pieces of this length: in bytes, or characters of a text. */
  add(frame: string | Uint8Array, pieceLength: number): void {
    const bytes = typeof frame === 'string' ? textBytes(frame) : frame.length
    this.#frames.push({ frame, bytes, pieceLength })
    this.#retained += bytes
  }

  /** Takes the next piece; undefined if nothing waits. */
  take(): FramePiece | undefined {
    const [first] = this.#frames
    if (first === undefined) return undefined
    const { frame, pieceLength } = first
    const end = pieceEnd(frame, this.#at + pieceLength)
    const bytes = copyOf(frame, this.#at, end)
    const isLast = end === frame.length
    this.#at = isLast ? 0 : end
    this.#takenBytes = isLast ? 0 : this.#takenBytes + bytes.length
    if (isLast) {
      this.#frames.shift()
      this.#retained -= first.bytes
    }
    return { bytes, isLast }
  }

  /** Drops everything. */
  clear(): void {
    this.#frames = []
    this.#retained = 0
    this.#at = 0
    this.#takenBytes = 0
  }
}

interface Waiting {
  readonly frame: string | Uint8Array
  readonly bytes: number
  readonly pieceLength: number
}

/** A text with a single character beyond Latin-1 takes two bytes for each of its characters. */
function textBytes(text: string): number {
  const bytes = Buffer.byteLength(text)
  return bytes === text.length ? bytes : Math.max(bytes, 2 * text.length)
}

/** Returns the end of a piece: not between the two halves of a character. */
function pieceEnd(frame: string | Uint8Array, end: number): number {
  if (end >= frame.length) return frame.length
  const isHalf = typeof frame === 'string' && (frame.charCodeAt(end) & 0xfc00) === 0xdc00
  return isHalf ? end + 1 : end
}

/** Copies, because a part of a frame would keep all of it in memory. */
function copyOf(frame: string | Uint8Array, start: number, end: number): Buffer {
  return typeof frame === 'string'
    ? Buffer.from(frame.slice(start, end), 'utf8')
    : Buffer.from(frame.subarray(start, end))
}
