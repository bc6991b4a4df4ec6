/** How messages are told apart on a stream of bytes. */
export type FramingName = 'lines' | 'length' | 'headers'

/** Where a reader puts what it finds. None of these may throw. */
export interface FrameSink {
  /** One whole frame: `bytes[start, end)`, valid only during the call. */
  frame(bytes: Uint8Array, start: number, end: number): void
  /** A frame over the limit. Said once, as soon as it is known; its bytes are skipped, not kept. */
  oversize(): void
  /** The boundaries are lost: no frame will follow, whatever else is pushed. */
  broken(why: string): void
}

/** Cuts a stream of bytes into frames. Any cutting of the same bytes gives the same frames. */
export interface FrameReader {
  push(chunk: Uint8Array): void
  /** Tells that no more bytes come; returns whether an unfinished frame was left, and drops it. */
  end(): boolean
}

/** One framing: how it reads and how it writes. */
export interface Framing {
  readonly name: FramingName
  /** A reader that keeps at most `maxBytes` of an unfinished frame. */
  reader(sink: FrameSink, maxBytes: number): FrameReader
  /** The text of one message, ready for the wire. */
  write(text: string): string | Uint8Array
}
