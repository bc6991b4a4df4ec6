import { invalidParams } from '../../jsonrpc/error.ts'
import { wantsLevel } from '../../mcp/log-level.ts'
import { atLeast, isLogLevel, type LogLevel } from '../../mcp/types/logging.ts'
import { limits } from '../../util/limits/limits.ts'
import { TokenBucket } from '../../util/time/token-bucket.ts'
import type { IncomingRequest, NamedParams } from '../request.ts'

/** Sends the log messages of one request, at the level that the caller has requested and at a limited rate. */
export class RequestLog {
  readonly #request: IncomingRequest
  readonly #bucket: TokenBucket

  constructor(request: IncomingRequest, now?: () => number) {
    this.#request = request
    const { logBurst, logPerSecond } = limits
    this.#bucket = new TokenBucket(logBurst.default, logPerSecond.default, now)
  }

  /** Sends a message. Drops it if the caller has not requested the level, or the rate is exceeded. */
  send(level: LogLevel, data: unknown, logger: string | undefined): void {
    const { exchange, caller } = this.#request
    if (!hasRequestedLog(this.#request, level)) return
    // A level that belongs to a request ends with it: nothing is sent once the request is settled.
    if (caller.revision.features.logLevel === 'request' && exchange.settled === true) return
    if (!this.#bucket.take()) return
    // The protocol requires data; a value that JSON does not have is sent as null.
    const sent = exchange.notify('notifications/message', { level, logger, data: data ?? null })
    if (sent !== undefined) sent.then(undefined, () => {})
  }
}

/** Whether the caller of a request has requested messages of this level, by its session or with the request. */
export function hasRequestedLog({ caller, session }: IncomingRequest, level: LogLevel): boolean {
  // A local call has the level of its caller in every revision.
  if (session === undefined) return caller.logLevel !== undefined && atLeast(level, caller.logLevel)
  return wantsLevel(caller, session.logLevel, level)
}

/** Answers `logging/setLevel`. */
export function setLevel({ params, session }: IncomingRequest): NamedParams {
  const { level } = params
  if (!isLogLevel(level)) {
    throw invalidParams('Unknown log level', { data: { details: 'level is unknown' } })
  }
  if (session !== undefined) session.logLevel = level
  return {}
}
