import type { Caller } from './caller.ts'
import { atLeast, type LogLevel } from './types/logging.ts'

/** The level of a session before its client has sent `logging/setLevel`. */
const defaultLevel: LogLevel = 'info'

/**
 * Whether a caller wants log messages of a level: by the level of its session, or by that of the request in
 * revisions without sessions. `sessionLevel` is undefined before the client has set it.
 */
export function wantsLevel(
  caller: Caller,
  sessionLevel: LogLevel | undefined,
  level: LogLevel,
): boolean {
  if (caller.revision.features.logLevel === 'request') {
    return caller.logLevel !== undefined && atLeast(level, caller.logLevel)
  }
  return atLeast(level, sessionLevel ?? defaultLevel)
}
