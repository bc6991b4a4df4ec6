import { ChannelError } from '../../jsonrpc/channel.ts'
import { wasNotAuthorized } from '../../mcp/credentials.ts'
import { isShortage, rootCause } from '../../util/error-cause.ts'
import { limits } from '../../util/limits/limits.ts'

/**
 * What a failed attempt says about its instance:
 *
 * - `none`: nothing bad; the server answered, or the call itself was at fault
 * - `failure`: it failed; counts for its circuit breaker
 * - `unsent`: the call provably was not sent, because there was no connection
 * - `shortage`: this machine could not open a connection, for lack of file handles or memory
 * - `busy`: it takes no calls for the moment (status 429 or 503)
 * - `credentials`: it refuses the credentials of the call (status 401, 403 or 407), or there are none
 */
export type Fault = 'none' | 'failure' | 'unsent' | 'shortage' | 'busy' | 'credentials'

/** Returns what the error of an attempt says about its instance. */
export function instanceFaultOf(error: unknown): Fault {
  if (!(error instanceof ChannelError)) return 'none'
  if (error.code === 'unserialisable' || error.code === 'too-many') return 'none'
  if (isShortage(error)) return 'shortage'
  if (error.code === 'closed') return 'unsent'
  if (wasNotAuthorized(error)) return 'credentials'
  const { status } = rootCause(error)
  if (error.code !== 'refused' || status === undefined) return 'failure'
  if (status === 429 || status === 503) return 'busy'
  return isRefusedCredentials(status) ? 'credentials' : 'failure'
}

/** Whether a status refuses the credentials of the request. */
export function isRefusedCredentials(status: number | undefined): boolean {
  return status === 401 || status === 403 || status === 407
}

/**
 * Returns how long a server asked callers to wait, in milliseconds, at most `retryAfterMs`; undefined if it
 * did not. `Retry-After` is a number of seconds or a date; `now` is the wall-clock time.
 */
export function retryAfterMsOf(error: unknown, now = Date.now()): number | undefined {
  const text = rootCause(error).retryAfter?.trim() ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), limits.retryAfterMs.default)
}
