import { BackplaneError } from '../backplane-error.ts'
import { EngineReplyError } from './raw-connection.ts'

/** Replies by which an engine refuses a command without executing it. */
const refused = new Set([
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

/** Returns whether an error reply says that the engine does not know a script. */
export function isUnknownScript(error: unknown): boolean {
  const { cause } = error instanceof BackplaneError ? error : { cause: undefined }
  return cause instanceof EngineReplyError && cause.message.startsWith('NOSCRIPT')
}

/** Returns whether an engine refused the credentials, so that no further attempt can help. */
export function isPermissionError(error: unknown): boolean {
  return error instanceof EngineReplyError && /^(?:WRONGPASS|NOAUTH|NOPERM)\b/.test(error.message)
}
