import type { Principal } from '../jsonrpc/channel.ts'
import type { Repeats } from '../jsonrpc/codec/repeated-meta.ts'
import type { Asked, Gate } from '../util/origin.ts'

/**
 * One request over HTTP and its answer, as both bindings say them: `node:http` and fetch. Nothing else
 * in this folder knows either.
 */
export interface HttpRequest {
  readonly method: string
  /** The path, without the query. */
  readonly path: string
  /** The value of a header by its name in lower case; several of one name joined by a comma. */
  header(name: string): string | undefined
  /** Every header by its name in lower case, for whoever answers. */
  readonly headers: Readonly<Record<string, string>>
  /** Where it says it comes from. */
  asked(): Asked
  /** The port it came in at, and whether only this machine can reach that. */
  local(): Pick<Gate, 'port' | 'loopback'>
  /**
   * Reads the body and calls `done` with all of it, or with undefined as soon as it is larger than
   * `maxBytes`. Never calls it when the client goes away first.
   */
  body(maxBytes: number, done: (bytes: Uint8Array | undefined) => void): void
  /** Who asks, where somebody has established it before. */
  readonly principal?: Principal
  /** What the connection it came by says in every body, where that is known. */
  readonly repeats?: Repeats
}

/** Headers of an answer, by their names in lower case. */
export type ReplyHeaders = Readonly<Record<string, string>>

/** What the head of every event stream says. */
export const eventStream: ReplyHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Asks proxies that gather answers not to.
  'x-accel-buffering': 'no',
}

/** The way back to whoever asked. Exactly one of `send` and `stream` is called, once. */
export interface HttpReply {
  /** Answers with a whole body, or with none. */
  send(status: number, headers: ReplyHeaders, body?: string): void
  /** Begins an event stream; the binding adds what event streams need. */
  stream(headers: ReplyHeaders): EventStream
  /** Whether the client has gone, or everything has been sent. */
  readonly isOver: boolean
  /** Calls `listener` once if the client goes away before the answer is complete. */
  onGone(listener: () => void): void
}

/** An event stream on its way to a client. */
export interface EventStream {
  /**
   * Takes the text of events or comments. A returned promise asks the writer to wait: it settles when
   * there is room again, or the stream is over. What is written to a stream that is over is dropped.
   *
   * A client that stops reading has its stream cut when too much waits for it.
   */
  write(text: string): void | Promise<void>
  /** Ends the stream after what was written. Idempotent. */
  end(): void
}

/** How much may wait for a client that reads slowly. */
export interface OutboundOptions {
  /** Unsent bytes of one stream at which writers are asked to wait. */
  readonly highWaterBytes?: number
  /** Unsent bytes of one stream at which it is cut. */
  readonly maxOutboundBytes?: number
  /** How long a stream may take nothing while more than the high water waits. */
  readonly stallMs?: number
}

/** Answers requests over HTTP, whatever server they come from. */
export interface HttpHandler {
  /** Answers one request. Never throws. */
  handle(request: HttpRequest, reply: HttpReply): void
  /** Takes nothing more and answers what is in flight, within a time. Never rejects. */
  close(options?: { readonly drainMs?: number }): Promise<void>
}
