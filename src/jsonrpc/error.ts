import type { ErrorObject } from './message.ts'

/** The codes JSON-RPC 2.0 defines, section 5.1. */
export const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
} as const

/** The name of the kind of a malformed text's error; undefined for codes that are not JSON-RPC's own. */
export function standardKind(code: number): string | undefined {
  if (code === codes.parseError) return 'parse_error'
  return code === codes.invalidRequest ? 'invalid_request' : undefined
}

export interface RpcErrorOptions {
  /** Goes to the other side as `error.data`. */
  readonly data?: unknown
  /** The name of the error in the catalogue, where it has one. */
  readonly kind?: string
  readonly category?: string
  readonly severity?: string
  /** What brought it about; stays here. */
  readonly cause?: unknown
}

/**
 * An error that crosses the wire. Thrown by a handler it is answered with exactly this code,
 * message and data; a call whose answer is a failure rejects with it.
 */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown
  readonly kind: string | undefined
  readonly category: string | undefined
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

/** The error as it goes into a failure: `data` only where there is some. */
export function errorObject(error: RpcError): ErrorObject {
  return error.data === undefined
    ? { code: error.code, message: error.message }
    : { code: error.code, message: error.message, data: error.data }
}

/** The error of a failure that arrived; with its kind, where its data tell it. */
export function rpcError({ code, message, data }: ErrorObject): RpcError {
  const kind =
    typeof data === 'object' && data !== null && 'kind' in data && typeof data.kind === 'string'
      ? data.kind
      : undefined
  return new RpcError(code, message, { data, kind })
}

export function methodNotFound(method: string): RpcError {
  // The name stays out of the answer: the specification's own examples carry no data.
  return new RpcError(codes.methodNotFound, 'Method not found', {
    kind: 'method_not_found',
    cause: method,
  })
}

export function invalidParams(message = 'Invalid params', options?: RpcErrorOptions): RpcError {
  return new RpcError(codes.invalidParams, message, { kind: 'invalid_params', ...options })
}

export function internalError(cause?: unknown): RpcError {
  return new RpcError(codes.internalError, 'Internal error', { kind: 'internal_error', cause })
}
