import { ChannelError } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { grantPageOf } from '../../mcp/callers/caller-credentials.ts'
import { wasNotAuthorized } from '../../mcp/credentials.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { Members } from '../../mcp/types/base.ts'
import { takesUrls } from '../../server/input/require-capability.ts'
import type { IncomingRequest } from '../../server/request.ts'
import { causeLabel, rootCause } from '../../util/error-cause.ts'
import { limits } from '../../util/limits/limits.ts'
import { instanceFaultOf, retryAfterMsOf } from '../policy/fault.ts'

/** Makes the error for a call whose upstream server cannot be reached. */
export function unavailable(
  server: string,
  reason: string,
  retryAfterMs?: number,
  cause?: unknown,
): RpcError {
  const message =
    reason === busyReason
      ? `The server "${server}" is busy`
      : `The server "${server}" is not available: ${reason}`
  const data = { server, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  const error = errors.customServerError(data, { message, cause })
  unsent.add(error)
  return error
}

/** The reason of a server that asked callers to wait (`Retry-After`). */
export const busyReason = 'it is busy'

/** Returns whether a call was not carried out, because its server could not be reached. */
export function wasUnsent(error: unknown): error is RpcError {
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
          message: `${lossOf(server, error)}; whether the call was carried out is unknown`,
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
      return refusalOf(server, error, error.code)
    case 'framing':
    case 'too-large':
      return errors.transportError(
        { server, outcome: 'unknown' },
        { message: `The response of "${server}" is invalid: ${error.message}`, cause: error },
      )
    default:
      return errors.transportError(
        { server },
        { message: `The call to "${server}" failed: ${invalid[error.code]}`, cause: error },
      )
  }
}

/** Returns the error of a call that was not carried out. */
function refusalOf(server: string, error: ChannelError, code: keyof typeof reasons): RpcError {
  switch (instanceFaultOf(error)) {
    case 'busy':
      return unavailable(server, busyReason, retryAfterMsOf(error), error)
    case 'credentials':
      return wasNotAuthorized(error)
        ? notAuthorizedAt(server, error)
        : unavailable(server, "it refuses the router's credentials", undefined, error)
    case 'shortage': {
      const reason = 'the router has no resources left to open a connection'
      return unavailable(server, reason, limits.restartAloneMs.default, error)
    }
    default:
      return unavailable(server, statusReason(error) ?? reasons[code], undefined, error)
  }
}

/**
 * Makes the error of a call for which there were no credentials. It says nothing of tokens and scopes. If the user of
 * the caller can change that on a page, it is the error that names the page.
 */
function notAuthorizedAt(server: string, cause: ChannelError): RpcError {
  const page = grantPageOf(cause)
  if (page !== undefined) {
    const elicitations = [{ mode: 'url', ...page } as const]
    const required = errors.urlElicitationRequired(
      { elicitations },
      { message: page.message, cause },
    )
    unsent.add(required)
    return required
  }
  const reason = 'no credentials for this call could be obtained'
  const message = `The call to "${server}" was not authorized: ${reason}`
  const error = errors.authorizationFailed({ server, reason }, { message, cause })
  unsent.add(error)
  return error
}

/**
 * Returns what a caller gets that cannot show its user the page on which the user allows the router to act for them: a
 * tool error, which a model reads to the user, or an error for other requests. Returns undefined for a caller that can
 * show the page, and for any other error.
 */
export function connectInstead(
  { caller, method }: Pick<IncomingRequest, 'caller' | 'method'>,
  error: unknown,
): Members | RpcError | undefined {
  const page = grantPageOf(error)
  if (page === undefined) return undefined
  if (takesUrls(caller) && methodRow(method)?.mayRequestInput === true) return undefined
  const text = `${page.message} Open this page in your browser, then call again: ${page.url}`
  if (method === 'tools/call') return { content: [{ type: 'text', text }], isError: true }
  return errors.authorizationFailed({ reason: page.message, url: page.url }, { message: text })
}

/** Says in what way a call was lost. */
function lossOf(server: string, error: ChannelError): string {
  const { status } = rootCause(error)
  if (status === undefined) return `The connection to "${server}" was lost`
  return `The server "${server}" answered with ${causeLabel(error)}`
}

function statusReason(error: ChannelError): string | undefined {
  const { status } = rootCause(error)
  if (status === undefined) return undefined
  return status < 400 ? 'it redirects to another address' : `it answered with ${causeLabel(error)}`
}

/** What is wrong with a call or its response, for callers. */
const invalid = {
  'too-large': 'the response is too large',
  framing: 'the response is not a valid message',
  unserialisable: 'its params cannot be sent',
  'id-overflow': 'it has no id',
  'id-collision': 'its id is in use',
} as const

/** Reasons for callers, in place of error messages that may name programs, files and addresses. */
const reasons = {
  closed: 'its connection was closed',
  refused: 'it cannot be reached',
  'too-many': 'it has too many calls in flight',
} as const
