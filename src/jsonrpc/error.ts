import type { ErrorObject } from './message.ts'

/** The error codes that JSON-RPC 2.0 defines in section 5.1. */
export const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
} as const

/** Returns the catalog name of an error for malformed input; undefined for any other code. */
export function standardKind(code: number): string | undefined {
  if (code === codes.parseError) return 'parse_error'
  return code === codes.invalidRequest ? 'invalid_request' : undefined
}

/** The optional parts of an RpcError. */
export interface RpcErrorOptions {
  /** Sent to the peer as `error.data`. */
  readonly data?: unknown
  /** The name of the error in the catalog, if it has one. */
  readonly kind?: string
  /** The part of the protocol that the error belongs to. */
  readonly category?: string
  /** How serious the error is. */
  readonly severity?: string
  /** The underlying error. Never sent to the peer. */
  readonly cause?: unknown
}

/**
 * An error that crosses the wire. When a handler throws one, its code, message and data are sent to the
 * caller as they are. A call that gets an error response rejects with one.
 */
export class RpcError extends Error {
  /** The code on the wire, such as -32602. */
  readonly code: number
  /** Details for programs, as JSON. */
  readonly data: unknown
  /** What failed, as a word that is the same in every profile and revision. */
  readonly kind: string | undefined
  /** The part of the protocol that the error belongs to. */
  readonly category: string | undefined
  /** How serious the error is. */
  readonly severity: string | undefined

  constructor(code: number, message: string, options: RpcErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'RpcError'
    this.code = code
    this.data = options.data
    this.kind = options.kind
    this.category = options.category
    this.severity = options.severity
  }
}

/** Returns the `error` member of a failure response; `data` is included only if it is defined. */
export function errorObject(error: RpcError): ErrorObject {
  return error.data === undefined
    ? { code: error.code, message: error.message }
    : { code: error.code, message: error.message, data: error.data }
}

/** Makes an RpcError from a received error object; its kind is read from `data.kind`. */
export function rpcError({ code, message, data }: ErrorObject): RpcError {
  const kind =
    typeof data === 'object' && data !== null && 'kind' in data && typeof data.kind === 'string'
      ? data.kind
      : undefined
  return new RpcError(code, message, { data, kind })
}

/** Makes the standard error -32601 "Method not found". The method name is its cause. */
export function methodNotFound(method: string): RpcError {
  // The response carries no data, as in the specification's own examples.
  return new RpcError(codes.methodNotFound, 'Method not found', {
    kind: 'method_not_found',
    cause: method,
  })
}

/** Makes the standard error -32602 "Invalid params". */
export function invalidParams(message = 'Invalid params', options?: RpcErrorOptions): RpcError {
  return new RpcError(codes.invalidParams, message, { kind: 'invalid_params', ...options })
}

/** Makes the standard error -32603 "Internal error". */
export function internalError(cause?: unknown): RpcError {
  return new RpcError(codes.internalError, 'Internal error', { kind: 'internal_error', cause })
}
