import { ByteBuffer } from './byte-buffer.ts'

/**
 * The kinds of frames on a link between two nodes.
 *
 * A frame is the length of its payload (4 bytes), its kind (1 byte), the id of its stream (4 bytes) and the payload;
 * numbers are big-endian. Payloads are UTF-8 text, except for `data` (any bytes), `credit` (a number of 4 bytes) and
 * `end`, `ping` and `pong` (none). The stream id 0 stands for the link itself.
 */
export const linkFrameKinds = {
  hello: 1,
  open: 2,
  head: 3,
  data: 4,
  end: 5,
  reset: 6,
  credit: 7,
  request: 8,
  reply: 9,
  ping: 10,
  pong: 11,
} as const

/** A kind of frame, as its number on the wire. */
export type LinkFrameKind = (typeof linkFrameKinds)[keyof typeof linkFrameKinds]

/** The kinds of frames whose payload is text. */
export type LinkTextKind = 1 | 2 | 3 | 6 | 8 | 9

const headerBytes = 9
const creditBytes = 4
const empty = new Uint8Array(0)
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Returns the text of a payload. Bytes that are not UTF-8 become replacement characters. */
export function linkText(payload: Uint8Array): string {
  return decoder.decode(payload)
}

/** Returns the number in the payload of a `credit` frame. */
export function linkCredit(payload: Uint8Array): number {
  return readNumber(payload, 0)
}

/** Collects frames, to be written together. */
export class LinkFrameBatch {
  #bytes = empty
  #used = 0
  #capacity = minCapacity

  /** The bytes that were collected since the last `take`. */
  get size(): number {
    return this.#used
  }

  /** Adds a frame of text. Returns false, and adds nothing, if the text has more than `maxBytes`. */
  text(kind: LinkTextKind, stream: number, text: string, maxBytes: number): boolean {
    if (text.length > maxBytes) return false
    // No character takes more than three bytes for each unit of its length.
    this.#reserve(headerBytes + text.length * 3)
    const start = this.#used + headerBytes
    const { written } = encoder.encodeInto(text, this.#bytes.subarray(start))
    if (written > maxBytes) return false
    this.#header(written, kind, stream)
    this.#used = start + written
    return true
  }

  /** Adds a `data` frame with a copy of `bytes[start, end)`. */
  data(stream: number, bytes: Uint8Array, start: number, end: number): void {
    const size = end - start
    this.#reserve(headerBytes + size)
    this.#header(size, linkFrameKinds.data, stream)
    this.#used += headerBytes
    this.#bytes.set(size === bytes.length ? bytes : bytes.subarray(start, end), this.#used)
    this.#used += size
  }

  /** Adds a `credit` frame. */
  credit(stream: number, bytes: number): void {
    this.#reserve(headerBytes + creditBytes)
    this.#header(creditBytes, linkFrameKinds.credit, stream)
    this.#used += headerBytes
    writeNumber(this.#bytes, this.#used, bytes)
    this.#used += creditBytes
  }

  /** Adds a frame without payload. */
  signal(kind: 5 | 10 | 11, stream: number): void {
    this.#reserve(headerBytes)
    this.#header(0, kind, stream)
    this.#used += headerBytes
  }

  /** Returns the frames as bytes that are never changed again, and begins a new batch. */
  take(): Uint8Array {
    const batch = this.#bytes.subarray(0, this.#used)
    // The next batch is probably about as large as this one.
    this.#capacity = Math.min(Math.max(minCapacity, this.#used), maxCapacity)
    this.#bytes = empty
    this.#used = 0
    return batch
  }

  #reserve(size: number): void {
    const needed = this.#used + size
    if (needed <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(needed, this.#capacity, this.#bytes.length * 2))
    larger.set(this.#bytes.subarray(0, this.#used))
    this.#bytes = larger
  }

  #header(size: number, kind: LinkFrameKind, stream: number): void {
    const at = this.#used
    writeNumber(this.#bytes, at, size)
    this.#bytes[at + 4] = kind
    writeNumber(this.#bytes, at + 5, stream)
  }
}

const minCapacity = 1024
const maxCapacity = 128 * 1024

/** Receives what a `LinkFrameReader` finds. None of these methods may throw. */
export interface LinkFrameSink {
  /** Bytes of a stream, as they arrive: one `data` frame can give several pieces. They are never changed. */
  data(stream: number, bytes: Uint8Array): void
  /** A complete frame of any other kind. The payload is valid only during the call. */
  frame(kind: LinkFrameKind, stream: number, payload: Uint8Array): void
  /** The bytes are not frames of a link, or a frame is over the limit. Nothing follows. */
  broken(reason: string): void
}

/**
 * Splits the bytes of a link into frames. What it finds does not depend on how the bytes are split into chunks,
 * except for the pieces of data. It buffers no data, and of other frames at most `maxBytes`.
 */
export class LinkFrameReader {
  /** The limit for the payload of a frame; a change counts from the next frame on. */
  maxBytes: number
  readonly #sink: LinkFrameSink
  readonly #header = new Uint8Array(headerBytes)
  #headerSize = 0
  #kind: LinkFrameKind = linkFrameKinds.data
  #stream = 0
  /** The bytes of the payload that are still to come. */
  #left = 0
  #payload: ByteBuffer | undefined
  #isStopped = false

  constructor(sink: LinkFrameSink, maxBytes: number) {
    this.#sink = sink
    this.maxBytes = maxBytes
  }

  /** Reads a chunk, whose bytes must not change afterwards. */
  push(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length && !this.#isStopped) {
      at = this.#left > 0 ? this.#takePayload(chunk, at) : this.#takeHeader(chunk, at)
    }
  }

  /** Ignores everything from now on, also the rest of the current chunk. */
  stop(): void {
    this.#isStopped = true
    this.#payload = undefined
  }

  #takeHeader(chunk: Uint8Array, start: number): number {
    if (this.#headerSize === 0 && chunk.length - start >= headerBytes) {
      this.#begin(chunk, start)
      return start + headerBytes
    }
    const end = Math.min(start + headerBytes - this.#headerSize, chunk.length)
    this.#header.set(chunk.subarray(start, end), this.#headerSize)
    this.#headerSize += end - start
    if (this.#headerSize === headerBytes) {
      this.#headerSize = 0
      this.#begin(this.#header, 0)
    }
    return end
  }

  #begin(bytes: Uint8Array, at: number): void {
    const size = readNumber(bytes, at)
    const number = bytes[at + 4] ?? 0
    const kind = kinds[number]
    if (kind === undefined) {
      this.#break(`a frame has the unknown kind ${number}`)
      return
    }
    const fixed = fixedSizes[kind]
    if (fixed !== undefined && size !== fixed) {
      this.#break(`a frame of kind ${kind} has ${size} bytes instead of ${fixed}`)
      return
    }
    if (size > this.maxBytes) {
      this.#break(`a frame has ${size} bytes, the limit is ${this.maxBytes}`)
      return
    }
    this.#kind = kind
    this.#stream = readNumber(bytes, at + 5)
    this.#left = size
    // An empty `data` frame gives no piece.
    if (size === 0 && kind !== linkFrameKinds.data) this.#sink.frame(kind, this.#stream, empty)
  }

  #takePayload(chunk: Uint8Array, at: number): number {
    const end = Math.min(at + this.#left, chunk.length)
    this.#left -= end - at
    if (this.#kind === linkFrameKinds.data) {
      this.#sink.data(this.#stream, chunk.subarray(at, end))
    } else if (this.#left === 0 && this.#payload === undefined) {
      this.#sink.frame(this.#kind, this.#stream, chunk.subarray(at, end))
    } else {
      this.#payload ??= new ByteBuffer(this.maxBytes)
      this.#payload.add(chunk, at, end)
      if (this.#left === 0) this.#deliver(this.#payload)
    }
    return end
  }

  #deliver(payload: ByteBuffer): void {
    this.#payload = undefined
    this.#sink.frame(this.#kind, this.#stream, payload.take())
  }

  #break(reason: string): void {
    this.stop()
    this.#sink.broken(reason)
  }
}

/** The kinds by their numbers. */
const kinds: (LinkFrameKind | undefined)[] = []
for (const kind of Object.values(linkFrameKinds)) kinds[kind] = kind

/** The sizes of payloads that are always the same, by kind. */
const fixedSizes: (number | undefined)[] = []
fixedSizes[linkFrameKinds.credit] = creditBytes
for (const kind of [linkFrameKinds.end, linkFrameKinds.ping, linkFrameKinds.pong]) {
  fixedSizes[kind] = 0
}

function readNumber(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
  const low = ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)
  // Multiplied, because a shift would make a number with the top bit set negative.
  return high * 65_536 + low
}

function writeNumber(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}
