import { ChannelError } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'

/** Makes the error for a call whose upstream server cannot be reached. */
export function unavailable(server: string, reason: string, retryAfterMs?: number): RpcError {
  const data = { server, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  const error = errors.customServerError(data, {
    message: `The server "${server}" is not available: ${reason}`,
  })
  unsent.add(error)
  return error
}

/** Returns whether a call was not carried out, because its server could not be reached. */
export function isUnavailable(error: unknown): error is RpcError {
  return error instanceof RpcError && unsent.has(error)
}

/** By identity, because an upstream server may use the same code and the same message. */
const unsent = new WeakSet<RpcError>()

/**
 * Returns the error for the caller of a call that failed on the way to a server. An error of the server, and
 * the reason of a cancellation, are returned unchanged.
 */
export function failureOf(server: string, error: unknown): unknown {
  if (error instanceof RpcError || !(error instanceof ChannelError)) return error
  switch (error.code) {
    case 'outcome-unknown':
    case 'too-slow':
      return errors.transportError(
        { server, outcome: 'unknown' },
        {
          message: `The connection to "${server}" was lost; whether the call was carried out is unknown`,
          cause: error,
        },
      )
    case 'timeout':
      return errors.timeout(
        { server, outcome: 'unknown' },
        { message: `The server "${server}" did not respond in time`, cause: error },
      )
    case 'closed':
    case 'refused':
    case 'too-many':
      return unavailable(server, reasons[error.code])
    default:
      return errors.transportError(
        { server },
        { message: `The response of "${server}" is invalid: ${error.message}`, cause: error },
      )
  }
}

/** Returns whether an error is a failure of the instance, rather than of the call. */
export function isFault(error: unknown): boolean {
  return (
    error instanceof ChannelError && error.code !== 'unserialisable' && error.code !== 'too-many'
  )
}

/** Reasons for callers, in place of error messages that may name programs, files and addresses. */
const reasons = {
  closed: 'its connection was closed',
  refused: 'it cannot be reached',
  'too-many': 'it has too many calls in flight',
} as const
