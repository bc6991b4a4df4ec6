import type { Decoded, Id, Message } from './message.ts'

/** Who is at the other end, once something has established it. */
export interface Principal {
  readonly id: string
}

/** What travels beside a message, not in it. */
export interface Envelope {
  /** The request this message belongs to, where each request has a stream of its own. */
  readonly about?: Id
  readonly headers?: Readonly<Record<string, string>>
  readonly principal?: Principal
  /** Whether replies are put on a wire as text, so that what came as text may stay what it is. */
  readonly takesWritten?: boolean
}

/** Moves messages both ways. Knows framing; knows neither calls nor methods. */
export interface Channel extends AsyncDisposable {
  /** Starts delivery. Called once, before any send. */
  open(sink: Sink): void
  /**
   * Takes a message, or an array of them as a batch, for sending; order is kept.
   *
   * A returned promise asks the sender to wait: it settles when there is room again and rejects if
   * the channel closes first. Throws a ChannelError `'closed'` once closed, and `'unserialisable'`
   * for a message that is no JSON, of which nothing is then sent.
   */
  send(message: Message | readonly Message[], envelope?: Envelope): void | Promise<void>
  /** Gives up a request sent earlier. Absent where the wire has no stream per request. */
  abandon?(id: Id): void
  /**
   * Closes the connection of a request that is being answered, whose client comes back for the rest.
   * Returns false, and does nothing, where the client does not know how to.
   */
  poll?(about: Id): boolean
  /** Whether the other side may still hear us after it has stopped talking, as on a pipe or socket. */
  readonly halfOpen?: boolean
  /** Sends what was taken, then ends. Idempotent; never rejects; bounded in time. */
  close(): Promise<void>
}

/** Where a channel delivers. */
export interface Sink {
  /**
   * One arrival: a message, a batch, or text that is neither, which the sink answers while the
   * channel stays open. A returned promise asks the channel to stop reading until it settles.
   */
  receive(arrival: Decoded, envelope: Envelope): void | Promise<void>
  /**
   * One request sent earlier gets no reply any more, while the channel goes on: where each request has
   * a stream of its own. `'closed'` says that it provably never reached the other side.
   */
  failed?(id: Id, error: ChannelError): void
  /** The end, exactly once; with a cause unless one of the two sides closed in good order. */
  closed(cause?: Error): void
}

export type ChannelErrorCode =
  | 'closed'
  | 'timeout'
  | 'refused'
  | 'too-large'
  | 'too-slow'
  | 'too-many'
  | 'framing'
  | 'unserialisable'
  | 'id-overflow'
  | 'id-collision'
  | 'outcome-unknown'

/** What went wrong here, on this side of the wire. Never crosses it. */
export class ChannelError extends Error {
  readonly code: ChannelErrorCode

  constructor(code: ChannelErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = 'ChannelError'
    this.code = code
  }
}
