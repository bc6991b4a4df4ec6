import { BackplaneError } from '../../backplane-error.ts'
import type { RemoteErrors } from '../../remote/connection.ts'

/** An error reply of an engine. The engine has received the request and answered it. */
export class NatsReplyError extends Error {
  /** The code of JetStream, or one of `replyCodes`. */
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'NatsReplyError'
    this.code = code
  }
}

/** The codes of error replies that this backplane distinguishes. */
export const replyCodes = {
  loginRefused: 401,
  notAllowed: 403,
  /** Nobody received the request: there is no such stream, or no JetStream. */
  nobody: 503,
  unavailable: 10008,
  noMessage: 10037,
  notEnabled: 10039,
  noSuchSequence: 10043,
  streamExists: 10058,
  noStream: 10059,
  wrongSequence: 10071,
  /** The same, where the engine does not say which number is the right one. */
  otherSequence: 10164,
  notStored: 10077,
} as const

/** Replies by which an engine refuses a request without executing it. */
const refused: ReadonlySet<number> = new Set([
  replyCodes.loginRefused,
  replyCodes.notAllowed,
  replyCodes.nobody,
  replyCodes.unavailable,
  replyCodes.notEnabled,
  replyCodes.noStream,
  replyCodes.wrongSequence,
  replyCodes.otherSequence,
])

/** Replies by which an engine says that an account, its memory or its disk is full. */
const full: ReadonlySet<number> = new Set([10002, 10023, 10028, 10047])

/** What the errors of an engine mean. */
export const natsErrors: RemoteErrors = {
  commandError(error) {
    if (error instanceof BackplaneError) return error
    const text = error instanceof Error ? error.message : String(error)
    if (!(error instanceof NatsReplyError)) {
      return new BackplaneError('unknown', `the connection was lost: ${text}`, { cause: error })
    }
    const { code } = error
    if (full.has(code) || (code === replyCodes.notStored && /maximum|exceeded/.test(text))) {
      return new BackplaneError('full', `the engine has no room: ${text}`, { cause: error })
    }
    return new BackplaneError(
      refused.has(code) ? 'down' : 'unknown',
      `the engine replied with an error: ${text}`,
      { cause: error },
    )
  },
  isReply: error => error instanceof NatsReplyError,
  // The next connection creates the streams again.
  needsNewConnection: error =>
    error instanceof NatsReplyError &&
    (error.code === replyCodes.nobody || error.code === replyCodes.noStream),
}

/** Returns whether a message was not stored because another one came first. */
export function isConflict(error: unknown): boolean {
  const reply = error instanceof BackplaneError ? error.cause : error
  if (!(reply instanceof NatsReplyError)) return false
  return reply.code === replyCodes.wrongSequence || reply.code === replyCodes.otherSequence
}

/** Returns whether no further attempt to connect can help: wrong credentials, or an engine without streams. */
export function isHopelessError(error: unknown): boolean {
  if (error instanceof TypeError) return true
  const reply = error instanceof BackplaneError ? error.cause : error
  if (!(reply instanceof NatsReplyError)) return false
  const { loginRefused, notAllowed, notEnabled } = replyCodes
  return [loginRefused, notAllowed, notEnabled].some(code => code === reply.code)
}
