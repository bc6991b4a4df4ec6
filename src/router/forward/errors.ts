import { ChannelError } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'

/** What callers are told when a server behind the router cannot be reached at all. */
export function unavailable(server: string, reason: string, retryAfterMs?: number): RpcError {
  const data = { server, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  const error = errors.customServerError(data, {
    message: `The server "${server}" is not available: ${reason}`,
  })
  unsent.add(error)
  return error
}

/** Whether a call was carried out by nobody, because its server could not be reached. */
export function isUnavailable(error: unknown): error is RpcError {
  return error instanceof RpcError && unsent.has(error)
}

/** Told by who they are: a server of somebody else's may use the same number and the same words. */
const unsent = new WeakSet<RpcError>()

/**
 * What went wrong on the way to a server, as its caller is told. An error of the server itself stays
 * what it is; so does the reason of whoever gave up.
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
        { message: `The server "${server}" did not answer in time`, cause: error },
      )
    case 'closed':
    case 'refused':
    case 'too-many':
      return unavailable(server, excuses[error.code])
    default:
      return errors.transportError(
        { server },
        { message: `The answer of "${server}" cannot be used: ${error.message}`, cause: error },
      )
  }
}

/** Whether a failure speaks against the instance, rather than against the call. */
export function isFault(error: unknown): boolean {
  return (
    error instanceof ChannelError && error.code !== 'unserialisable' && error.code !== 'too-many'
  )
}

/** What callers are told instead of what went wrong, which may name programs, files and addresses. */
const excuses = {
  closed: 'its connection has ended',
  refused: 'it cannot be reached',
  'too-many': 'it has too much to do',
} as const
