import { parseRawValue } from '../jsonrpc/codec/raw-json.ts'
import { invalidParams, RpcError } from '../jsonrpc/error.ts'
import type { Exchange } from '../jsonrpc/handler.ts'
import type { Id } from '../jsonrpc/message.ts'
import type { Caller } from '../mcp/caller.ts'
import { argumentProblem, type MirroredArguments } from '../mcp/param-headers/compare.ts'
import { isRecord } from '../util/objects.ts'
import type { ServerSession } from './core/session.ts'
import type { TaskScope } from './tasks/scope.ts'

/** The named params of a request, or a result object. */
export type NamedParams = Readonly<Record<string, unknown>>

/** A request that the server is answering, with its caller. */
export interface IncomingRequest {
  readonly method: string
  readonly params: NamedParams
  /** Null for a notification. */
  readonly id: Id | null
  readonly caller: Caller
  readonly exchange: Exchange
  /**
   * The connection that carried the request, unless it came as a single HTTP request. A stateless
   * request may use the connection, but none of the session state on it.
   */
  readonly session: ServerSession | undefined
  /** Whether members of the result may be raw JSON: true where no middleware reads the result. */
  readonly acceptsRaw?: boolean
  /** What the handler gets as `ctx.env`. */
  readonly env?: unknown
  /** The task that the request runs as, or may become. */
  readonly task?: TaskScope
}

/** A result object, returned at once or as a promise. */
export type HandlerResult = NamedParams | Promise<NamedParams>

/** Returns a member of the params that must be a string. Throws an RpcError (-32602) otherwise. */
export function stringParam(params: NamedParams, name: string): string {
  const value = params[name]
  if (typeof value !== 'string') {
    throw invalidParams(`${name} must be a string`, {
      data: { details: `${name} must be a string` },
    })
  }
  return value
}

/**
 * Returns a member of the params that must be an object, or an empty object when it is absent. Throws
 * an RpcError (-32602) otherwise.
 */
export function objectParam(params: NamedParams, name: string): NamedParams {
  const value = params[name]
  if (value === undefined) return {}
  if (!isRecord(value)) {
    throw invalidParams(`${name} must be an object`, {
      data: { details: `${name} must be an object` },
    })
  }
  return value
}

/**
 * Calls `next` with a value that may be a promise: synchronously where it is not, so that no promise is
 * created.
 */
export function whenReady<T, U>(
  value: T | Promise<T>,
  next: (value: T) => U | Promise<U>,
): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/**
 * Checks the `Mcp-Param-*` headers of a stateless HTTP request against its arguments. Throws an RpcError
 * (-32020) where they differ.
 */
export function checkHeaders(
  mirrored: MirroredArguments,
  { params, caller, exchange, session }: IncomingRequest,
): void {
  const { headers } = exchange.envelope
  const { paramHeaders } = caller.revision.features
  if (!paramHeaders || headers === undefined || session !== undefined) return
  const details = argumentProblem(mirrored, parseRawValue(params.arguments), headers)
  if (details === undefined) return
  throw new RpcError(-32020, `Header mismatch: ${details}`, { data: { details } })
}
