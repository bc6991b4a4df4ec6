import type { RawRemote } from '../../remote/connection.ts'

/**
 * One connection to an engine, as the package `@nats-io/transport-node` makes it. It is never used again once it
 * failed.
 */
export interface RawNats extends RawRemote {
  /** The size of the largest message that the engine accepts, with its headers. */
  readonly maxPayload: number
  /** Whether the engine keeps streams. */
  readonly hasJetStream: boolean
  /** Resolves when the engine has processed everything that was sent. */
  flush(): Promise<void>
  /** Sends a request. Rejects with `NatsReplyError` if nobody receives it or it is not allowed. */
  request(
    subject: string,
    text: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<string>
  /** Sends a message to those who have subscribed. */
  publish(subject: string, text: string, replyTo?: string): void
  /** Subscribes to a subject. Returns a function that ends the subscription. */
  subscribe(subject: string, listener: (message: RawMessage) => void): () => void
}

/** A message as it arrives. */
export interface RawMessage {
  readonly subject: string
  readonly text: string
  /** The subject for replies; empty if there is none. */
  readonly replyTo: string
  /** Whether it is a notice of the engine without contents. */
  readonly isNotice: boolean
  /** Returns a header; an empty text if there is none. */
  header(name: string): string
}

/** Where an engine is, and how to log in. */
export interface EngineLogin {
  /** Hosts with ports. */
  readonly servers: readonly string[]
  readonly isTls: boolean
  readonly user?: string
  readonly password?: string
  readonly token?: string
}

/** Makes a connection, and calls `onLost` when it fails. */
export type OpenNats = (onLost: (error: unknown) => void) => RawNats

/** Returns a way to make connections to an engine. */
export type DialNats = (login: EngineLogin) => OpenNats
