import { invalidParams } from '../jsonrpc/error.ts'
import type { Caller } from '../mcp/caller.ts'
import { atLeast, isLogLevel, type LogLevel } from '../mcp/types/logging.ts'
import type { Params, ServerRequest } from './request.ts'
import type { Session } from './session.ts'

/** What a session hears before it has said anything. */
const UNASKED: LogLevel = 'info'

/** Whether a caller wants a message of this level: its session's choice, or the request's own. */
export function wantsLog(caller: Caller, session: Session | undefined, level: LogLevel): boolean {
  if (caller.revision.era === 'stateless') {
    return caller.logLevel !== undefined && atLeast(level, caller.logLevel)
  }
  return session !== undefined && atLeast(level, session.logLevel ?? UNASKED)
}

/** Answers `logging/setLevel`. */
export function setLevel({ params, session }: ServerRequest): Params {
  const { level } = params
  if (!isLogLevel(level)) {
    throw invalidParams('There is no such log level', { data: { details: 'level is unknown' } })
  }
  if (session !== undefined) session.logLevel = level
  return {}
}
