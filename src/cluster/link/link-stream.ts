import type { LinkError } from './link-error.ts'

/** One stream of a link: two directions of data, each with a flow control of its own. */
export interface LinkStream {
  /** Sends a head, in order with the data. A head over `linkFrameBytes` resets the stream. */
  sendHead(head: string): void
  /**
   * Sends bytes, which must not change afterwards. A returned promise asks the caller to wait before it sends more; it
   * resolves when everything has been sent or the stream has ended. Does nothing once this direction has ended.
   */
  send(data: Uint8Array): void | Promise<void>
  /** Ends this direction, behind everything that was sent. Idempotent. */
  end(): void
  /** Ends both directions at once. The own receiver is not called any more. No effect on a stream that has ended. */
  reset(reason: string): void
}

/**
 * Receives one stream of a link. A stream ends with `failed`, or when both directions have ended. If a method throws
 * or rejects, the stream is reset.
 */
export interface StreamReceiver {
  /** The other node sent a head. */
  head?(head: string): void
  /**
   * Bytes arrived, which are the receiver's to keep. The other node may send more when the returned promise resolves;
   * until then further calls bring at most `linkCreditBytes`.
   */
  data(bytes: Uint8Array): void | Promise<void>
  /** The other node has ended its direction. */
  end(): void
  /** The stream ended early. No further method is called. */
  failed(error: LinkError): void
}
