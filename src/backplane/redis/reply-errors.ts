import { BackplaneError } from '../backplane-error.ts'
import { EngineReplyError } from './raw-connection.ts'

/** Replies by which an engine refuses a command without executing it. */
const refused = new Set([
  'ASK',
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'MOVED',
  'NOAUTH',
  'NOPERM',
  'NOREPLICAS',
  'READONLY',
  'TRYAGAIN',
  'WRONGPASS',
])

/** Converts what a command rejected with to a BackplaneError. */
export function commandError(error: unknown): BackplaneError {
  if (error instanceof BackplaneError) return error
  const text = error instanceof Error ? error.message : String(error)
  if (!(error instanceof EngineReplyError)) {
    return new BackplaneError('unknown', `the connection was lost: ${text}`, { cause: error })
  }
  const [word = ''] = text.split(' ', 1)
  if (word === 'OOM') {
    return new BackplaneError('full', `the engine has no memory left: ${text}`, { cause: error })
  }
  const code = refused.has(word) ? 'down' : 'unknown'
  return new BackplaneError(code, `the engine replied with an error: ${text}`, { cause: error })
}

/** Returns whether an error reply says that another engine must be asked: this one is not the primary any more. */
export function needsNewConnection(error: unknown): boolean {
  return (
    error instanceof EngineReplyError && /^(?:READONLY|MASTERDOWN|LOADING)\b/.test(error.message)
  )
}

/** Returns whether an error reply says that another engine of a Redis Cluster has the key. */
export function isMoved(error: unknown): boolean {
  return error instanceof EngineReplyError && error.message.startsWith('MOVED ')
}

/** Which engine of a Redis Cluster a command should be sent to. */
export interface Redirection {
  /** Whether only this command should be sent there, because the keys are just being moved. */
  readonly isTemporary: boolean
  readonly host: string
  readonly port: string
}

/** Returns where an engine refers a command to, such as "MOVED 3999 10.0.0.5:6381"; undefined if it does not. */
export function redirectionOf(error: unknown): Redirection | undefined {
  const { cause } = error instanceof BackplaneError ? error : { cause: undefined }
  if (!(cause instanceof EngineReplyError)) return undefined
  const [, word, host, port] = /^(MOVED|ASK) \d+ (.*):(\d+)$/.exec(cause.message) ?? []
  if (host === undefined || port === undefined) return undefined
  return { isTemporary: word === 'ASK', host, port }
}

/** Returns whether an error reply says that the engine does not know a script. */
export function isUnknownScript(error: unknown): boolean {
  const { cause } = error instanceof BackplaneError ? error : { cause: undefined }
  return cause instanceof EngineReplyError && cause.message.startsWith('NOSCRIPT')
}

/** Returns whether no further attempt to connect can help: wrong credentials, or another kind of engine. */
export function isHopeless(error: unknown): boolean {
  if (error instanceof TypeError) return true
  const reply = error instanceof BackplaneError ? error.cause : error
  return reply instanceof EngineReplyError && /^(?:WRONGPASS|NOAUTH|NOPERM)\b/.test(reply.message)
}
