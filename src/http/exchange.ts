import type { Principal } from '../jsonrpc/channel.ts'
import type { MetaCache } from '../jsonrpc/codec/meta-cache.ts'
import type { AuthRequest } from '../mcp/authenticator.ts'
import type { OriginPolicy, RequestOrigin } from '../util/origin.ts'
import type { RequestBudget } from '../util/sockets/request-budget.ts'

/**
 * One HTTP request, independent of the server it came from. The bindings for `node:http`, for the fast
 * path and for fetch each implement it; no other code in this folder depends on a binding.
 */
export interface HttpRequest extends AuthRequest {
  /**
   * Returns the value of a header, by its name in lower case. Several headers of one name are joined by
   * commas.
   */
  header(name: string): string | undefined
  /** All headers by their names in lower case, for the handler of the call; without credentials once those are checked. */
  readonly headers: Readonly<Record<string, string>>
  /** Once it is set, `headers` leaves out these and the usual headers with credentials. */
  hiddenHeaders?: readonly string[] | undefined
  /** Returns what the request says about its origin. */
  origin(): RequestOrigin
  /** Returns the local port of the connection, and whether only this machine can reach it. */
  local(): Pick<OriginPolicy, 'port' | 'loopback'>
  /**
   * Reads the body and calls `done` with all of it, with undefined as soon as it exceeds `maxBytes`, or
   * with `'no-room'` if too much is held for other requests. `done` is never called if the client
   * disconnects first.
   */
  body(maxBytes: number, done: BodyReader): void
  /**
   * The caller. Set by code in front of this handler that has authenticated it, or by the service, which
   * authenticates it before it reads the body.
   */
  principal?: Principal | undefined
  /** What handlers get as `ctx.env`, where code in front of this handler provides it. */
  readonly env?: unknown
  /**
   * Caches the `_meta` that a client repeats in every body on one connection; absent where the
   * connection is unknown.
   */
  readonly metaCache?: MetaCache
  /** The memory that requests in flight may take; absent if it is not limited. */
  readonly requestBudget?: RequestBudget
}

/** What code in front of a handler knows of a request. */
export interface GivenRequest {
  /** The authenticated caller. */
  readonly principal?: Principal | undefined
  /** What handlers get as `ctx.env`, instead of what the option `context` of the server would return. */
  readonly env?: unknown
}

/** Returns headers without those that carry credentials, for code that has no use for them. */
export function withoutCredentials(
  headers: Readonly<Record<string, string>>,
  further: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !credentials.has(name) && !further.includes(name)),
  )
}

const credentials: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'dpop',
  'client-cert',
  'x-api-key',
])

/** Receives the body of a request, or why it was not read. */
export type BodyReader = (body: Uint8Array | undefined | 'no-room') => void

/** Response headers, by their names in lower case. */
export type ReplyHeaders = Readonly<Record<string, string>>

/** The headers of every event stream. */
export const eventStream: ReplyHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Asks proxies that buffer responses not to.
  'x-accel-buffering': 'no',
}

/** The response to one HTTP request. The service calls exactly one of `send` and `stream`, once. */
export interface HttpReply {
  /** Sends a complete response, with or without a body. */
  send(status: number, headers: ReplyHeaders, body?: string): void
  /** Begins an event stream. The binding adds the headers of event streams. */
  stream(headers: ReplyHeaders): EventStream
  /** Whether the client has disconnected, or the response is complete. */
  readonly isFinished: boolean
  /** Calls `listener` once if the client disconnects before the response is complete. */
  onDisconnect(listener: () => void): void
}

/** A server-sent event stream to a client. */
export interface EventStream {
  /**
   * Writes the text of events or comments. A returned promise asks the writer to wait; it settles when
   * there is room again, or when the stream has ended. Text written to a stream that has ended is
   * dropped.
   *
   * The stream of a client that stops reading is cut when too much is buffered for it.
   */
  write(text: string): void | Promise<void>
  /** Ends the stream after the text written so far. Idempotent. */
  end(): void
}

/** Limits on what is buffered for a client that reads slowly. */
export interface HttpOutboundOptions {
  /** Unsent bytes of one stream at which writers are asked to wait. */
  readonly highWaterBytes?: number
  /** Unsent bytes of one stream at which the stream is cut. */
  readonly maxOutboundBytes?: number
  /** Time in which a stream over the high-water mark must make progress before it is cut. */
  readonly stallMs?: number
}

/** Serves HTTP requests, whatever server they come from. */
export interface HttpHandler {
  /** Serves one request. Never throws. */
  handle(request: HttpRequest, reply: HttpReply): void
  /** Announces to load balancers that the handler is about to drain. */
  retire?(): void
  /**
   * Waits up to `drainMs` for requests in flight, and ends streams and sessions. Requests that still arrive
   * are served; none arrive once the connections have closed. Never rejects.
   */
  drain(options?: { readonly drainMs?: number }): Promise<void>
  /** Drains, and then refuses further requests. Never rejects. */
  close(options?: { readonly drainMs?: number }): Promise<void>
}
