import { invalidParams } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { atLeast, isLogLevel, type LogLevel } from '../../mcp/types/logging.ts'
import { limits } from '../../util/limits/limits.ts'
import { Allowance } from '../../util/time/token-bucket.ts'
import type { Session } from '../core/session.ts'
import type { Params, ServerRequest } from '../request.ts'

/** What a session hears before it has said anything. */
const UNASKED: LogLevel = 'info'

/** The log messages of one request: those its caller wants, and never so many that they drown it. */
export class Log {
  readonly #request: ServerRequest
  readonly #allowance: Allowance

  constructor(request: ServerRequest, now?: () => number) {
    this.#request = request
    const { logBurst, logPerSecond } = limits
    this.#allowance = new Allowance(logBurst.default, logPerSecond.default, now)
  }

  tell(level: LogLevel, data: unknown, logger: string | undefined): void {
    const { exchange, caller, session } = this.#request
    if (!wantsLog(caller, session, level)) return
    // Without a session a message belongs to its request, and has nowhere to go when that is over.
    if (caller.revision.era === 'stateless' && exchange.settled === true) return
    if (!this.#allowance.take()) return
    // A message without data is none; what JSON cannot say is null in it.
    const told = exchange.notify('notifications/message', { level, logger, data: data ?? null })
    if (told !== undefined) told.then(undefined, () => {})
  }
}

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
