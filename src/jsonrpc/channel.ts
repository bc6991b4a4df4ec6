import type { RequestBudget } from '../util/sockets/request-budget.ts'
import type { Decoded, Id, Message } from './message.ts'

/** The authenticated identity of a peer. */
export interface Principal {
  /** Identifies the peer, such as a user name, or the issuer and the subject of a token. */
  readonly id: string
  /** What the peer may do, as its token says. */
  readonly scopes?: readonly string[]
  /** The roles of the peer, such as `admin`. */
  readonly roles?: readonly string[]
  /** What else is known of the peer, such as the claims of its token. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** The issuer of its token. */
  readonly issuer?: string
  /** The subject of its token, which is unique for its issuer. */
  readonly subject?: string
  /** The OAuth client that acts for the peer. */
  readonly client?: string
  /** When its token expires, in milliseconds since 1970. */
  readonly expiresAt?: number
  /** The id of the API key that authenticated it. */
  readonly key?: string
  /** The name of the verifier that authenticated it. */
  readonly verifier?: string
}

/** The transport of a connection, for people who look at it. */
export interface TransportInfo {
  /** Its name, such as `stdio`. */
  readonly name: string
  /** The event streams that are open now, on transports that have them. */
  readonly openStreams?: number
}

/** Data that travels beside a message, not in it. */
export interface Envelope {
  /**
   * The id of the request this message belongs to, on transports where each request has its own stream.
   */
  readonly about?: Id
  /** The headers that came with the message, by lower-case name, on transports that have headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** The authenticated sender; undefined if there is no authentication. */
  readonly principal?: Principal
  /** What handlers get as `ctx.env`, where the application provides it with each request. */
  readonly env?: unknown
  /**
   * Returns the name under which the network address of the peer is counted; undefined if it is unknown or
   * not limited. With `includesLocal`, addresses of this machine and of private networks have one, too.
   */
  address?(includesLocal: boolean): string | undefined
  /** The transport, in the envelope that a connection is attached with. */
  readonly transport?: TransportInfo
  /** Whether a router sends it on behalf of its caller: a channel of this process delivers it. */
  readonly isOfCaller?: boolean
  /** Whether replies are sent as text, so that a result can contain raw JSON that was never parsed. */
  readonly acceptsRaw?: boolean
}

/** Sends and receives messages over one connection. Handles framing, but neither calls nor methods. */
export interface Channel extends AsyncDisposable {
  /** Starts delivery to `sink`. Must be called once, before any `send`. */
  open(sink: Sink): void
  /**
   * Sends a message, or an array of messages as a batch; order is kept.
   *
   * A returned promise applies backpressure: it resolves when more can be sent and rejects if the
   * channel closes first. Throws a ChannelError `'closed'` once closed, and `'unserialisable'` for a
   * message that is not JSON, of which nothing is then sent.
   */
  send(message: Message | readonly Message[], envelope?: Envelope): void | Promise<void>
  /** Cancels a request sent earlier. Absent on transports without a stream per request. */
  abandon?(id: Id): void
  /**
   * Closes the response stream of a request in flight; the client reconnects for the rest (SSE
   * polling). Returns false, and does nothing, if the client does not support that.
   */
  poll?(about: Id): boolean
  /** Whether the peer can still receive after it has ended its output, as on a pipe or socket. */
  readonly halfOpen?: boolean
  /**
   * @internal The memory that requests in flight may take; shared by the connections of a listener. Absent if it is
   * not limited.
   */
  readonly requestBudget?: RequestBudget
  /**
   * Sends the messages accepted so far, then closes. Idempotent; never rejects; bounded in time. With
   * `isDrained`, every request that was begun has been answered; a transport that can, tells the peer.
   */
  close(options?: { readonly isDrained?: boolean }): Promise<void>
}

/** Receives what arrives on a channel. */
export interface Sink {
  /**
   * Receives a message, a batch, or malformed input, which the sink answers while the channel stays
   * open. A returned promise applies backpressure: the channel stops reading until it settles. `bytes` is
   * the length of its text, if the channel knows it.
   */
  receive(arrival: Decoded, envelope: Envelope, bytes?: number): void | Promise<void>
  /**
   * A request sent earlier will get no reply, while the channel stays open; only on transports where
   * each request has its own stream. The code `'closed'` means that the request provably never reached
   * the peer.
   */
  failed?(id: Id, error: ChannelError): void
  /**
   * The channel accepts no more messages, while requests sent earlier may still be answered; `closed`
   * follows when none is left. Only on transports where each request has its own stream.
   */
  retired?(cause: Error): void
  /**
   * Requests wait for this side rather than for the peer, for a login for example, so the timeouts of calls
   * are suspended until this is called with false.
   */
  suspended?(isSuspended: boolean): void
  /**
   * Called exactly once, when the channel has closed; with a cause unless one side closed it cleanly.
   * With `isDrained`, the peer has answered every request that it began, so a request without a response
   * provably was not executed.
   */
  closed(cause?: Error, isDrained?: boolean): void
}

/** The reasons for which a channel or a call over it fails. */
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

/** Options of a {@link ChannelError}. */
export interface ChannelErrorOptions {
  /** The error that caused it. */
  readonly cause?: unknown
  /** What happened, in a few words that anyone may read. */
  readonly summary?: string
}

/** A local failure of the connection or of a call on it. Never sent to the peer. */
export class ChannelError extends Error {
  /** What failed, as a word for programs. */
  readonly code: ChannelErrorCode
  /**
   * What happened, in a few words that anyone may read: without output of the peer, addresses and paths.
   */
  readonly summary: string | undefined

  constructor(code: ChannelErrorCode, message: string, options: ChannelErrorOptions = {}) {
    super(message, options)
    this.name = 'ChannelError'
    this.code = code
    this.summary = options.summary
  }
}
