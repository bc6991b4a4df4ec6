import type { Envelope } from './channel.ts'
import { methodNotFound } from './error.ts'
import { isReserved, type RpcNotification, type RpcRequest } from './message.ts'

/** Options of a single call. */
export interface CallOptions {
  /** Cancels the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** The timeout for the reply in milliseconds; 0 disables it. */
  readonly timeoutMs?: number
}

/** Makes calls to a peer. */
export interface Calls {
  /**
   * Sends a request and resolves to its result. Rejects with an RpcError if the peer responds with an
   * error.
   */
  call(method: string, params?: object, options?: CallOptions): Promise<unknown>
  /** Sends a notification. A returned promise asks the caller to wait before it sends more. */
  notify(method: string, params?: object): void | Promise<void>
}

/** The context of an incoming message while it is handled: its cancellation and its reply path. */
export interface Exchange {
  /** Aborts when the sender cancels or the connection closes. Created on first access. */
  readonly signal: AbortSignal
  /** What came with the message but is not in it, such as headers and the principal. */
  readonly envelope: Envelope
  /**
   * Runs a callback with the reason when `signal` aborts, without the cost of creating a signal. Runs
   * it immediately if that has happened already. Absent where only the signal is available.
   */
  onAbort?(run: (reason: unknown) => void): void
  /** Whether the response has been sent, or none will be. */
  readonly settled?: boolean
  /**
   * Whether the reply is sent as text, so that the result can contain raw JSON that was never parsed.
   */
  readonly acceptsRaw?: boolean
  /**
   * Runs a callback once, right after the reply was sent; never, if there is no reply. Absent where
   * each request has its own stream, which ends with the reply.
   */
  afterReply?(run: () => void): void
  /**
   * Runs a callback when the server shuts down, so that a response without an end of its own can be
   * completed cleanly. Absent where the connection signals that in another way.
   */
  onShutdown?(run: () => void): void
  /** Sends a notification before the reply, on the same path as the reply. */
  notify(method: string, params?: object): void | Promise<void>
  /** Makes calls to the sender while it waits for the reply; absent if the transport cannot. */
  readonly back?: Calls
}

/**
 * Handles one message. The value it returns, or its promise resolves to, is the result. An RpcError
 * that it throws is sent as the error response; any other exception becomes "Internal error". For a
 * notification, both are dropped.
 */
export type Handler = (message: RpcRequest | RpcNotification, exchange: Exchange) => unknown

/** Wraps a handler in another one. */
export type Middleware = (next: Handler) => Handler

/** Wraps a handler in middlewares; the first one is outermost. */
export function compose(handler: Handler, middlewares: readonly Middleware[]): Handler {
  return middlewares.reduceRight((next, middleware) => middleware(next), handler)
}

/**
 * A function that implements a method. Positional params arrive as arguments; named params as one
 * object, followed by the exchange.
 */
// biome-ignore lint/suspicious/noExplicitAny: arguments come from the peer; each method declares what it expects
export type Method = (...params: any[]) => unknown

/** Makes a handler from a table of functions by method name. Throws a TypeError for a reserved name. */
export function methods(table: Readonly<Record<string, Method>>): Handler {
  // A Map, because a name like "constructor" must not find an inherited member.
  const known = new Map(Object.entries(table))
  for (const name of known.keys()) {
    if (isReserved(name)) throw new TypeError(`the method name "${name}" is reserved by JSON-RPC`)
  }
  return (message, exchange) => {
    const method = known.get(message.method)
    if (method === undefined) throw methodNotFound(message.method)
    const { params } = message
    if (params === undefined) return method()
    return Array.isArray(params) ? method(...params) : method(params, exchange)
  }
}
