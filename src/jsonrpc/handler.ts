import type { Envelope } from './channel.ts'
import { methodNotFound } from './error.ts'
import { isReserved, type RpcNotification, type RpcRequest } from './message.ts'

export interface CallOptions {
  readonly signal?: AbortSignal
  /** How long to wait for the reply; 0 waits for ever. */
  readonly timeoutMs?: number
}

/** The calling half of a peer. */
export interface Calls {
  call(method: string, params?: object, options?: CallOptions): Promise<unknown>
  notify(method: string, params?: object): void | Promise<void>
}

/** One inbound message being answered: how to stop it, and the way back. */
export interface Exchange {
  /** Aborted when the sender cancels or the connection ends. Made on first use. */
  readonly signal: AbortSignal
  readonly envelope: Envelope
  /**
   * Runs something with the reason when the sender cancels or the connection ends, as the signal tells it,
   * for less than a signal costs. At once where that has happened; absent where only the signal tells.
   */
  onAbort?(run: (reason: unknown) => void): void
  /** Whether it has been answered, or is not going to be. */
  readonly settled?: boolean
  /** Whether the reply is put on a wire as text, so that what came as text may stay what it is. */
  readonly takesWritten?: boolean
  /**
   * Runs something right behind the reply, once; not if there will be none. Absent where each request
   * has a stream of its own, which ends with the reply.
   */
  afterReply?(run: () => void): void
  /**
   * Runs something when whoever serves this takes leave, so that what would go on for ever can end in
   * good order. Absent where that is told by other ways.
   */
  onEnding?(run: () => void): void
  /** Sends a notification ahead of the reply, on the reply's own path. */
  notify(method: string, params?: object): void | Promise<void>
  /** Calls the sender back while it waits, where the wire allows it. */
  readonly back?: Calls
}

/**
 * Answers one message. What it returns, or what its promise resolves to, is the result; a thrown
 * RpcError is the failure; anything else thrown becomes "Internal error". For a notification both
 * are dropped.
 */
export type Handler = (message: RpcRequest | RpcNotification, exchange: Exchange) => unknown

export type Middleware = (next: Handler) => Handler

/** Puts middlewares around a handler; the first one is outermost. */
export function compose(handler: Handler, middlewares: readonly Middleware[]): Handler {
  return middlewares.reduceRight((next, middleware) => middleware(next), handler)
}

/**
 * A function behind a method name. Positional params arrive as arguments; named params as one
 * object, followed by the exchange.
 */
// biome-ignore lint/suspicious/noExplicitAny: arguments come from the other side; each method declares what it expects
export type Method = (...params: any[]) => unknown

/** Makes a handler of a table of functions. Throws for names that are reserved. */
export function methods(table: Readonly<Record<string, Method>>): Handler {
  // A Map, because a name like "constructor" must not find what every object inherits.
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
