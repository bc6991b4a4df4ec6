/** The name of a framing: how a byte stream is split into messages. */
export type FramingName = 'lines' | 'length' | 'headers'

/** Receives the frames that a reader finds. None of these methods may throw. */
export interface FrameSink {
  /** One complete frame: `bytes[start, end)`, valid only during the call. */
  frame(bytes: Uint8Array, start: number, end: number): void
  /**
   * A frame over the limit. Called once per frame, as soon as that is known; its bytes are skipped, not
   * buffered.
   */
  oversize(): void
  /** The frame boundaries are lost: no frame follows, even if more is pushed. */
  broken(reason: string): void
}

/**
 * Splits a byte stream into frames. The frames do not depend on how the bytes are split into chunks.
 */
export interface FrameReader {
  /** The bytes of memory that the unfinished frame takes. */
  readonly buffered: number
  /** Reads a chunk. Its bytes must not change afterwards, because a large one may be kept. */
  push(chunk: Uint8Array): void
  /** Ends the stream; returns whether an unfinished frame was left, and drops it. */
  end(): boolean
}

/** A framing: how frames are read and written. */
export interface Framing {
  readonly name: FramingName
  /** Makes a reader that buffers at most `maxBytes` of an unfinished frame. */
  reader(sink: FrameSink, maxBytes: number): FrameReader
  /** Returns the frame of one message. */
  write(text: string): string | Uint8Array
}
