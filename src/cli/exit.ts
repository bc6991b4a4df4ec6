import { HttpStatusError } from '../http/client/errors.ts'
import { ChannelError } from '../jsonrpc/channel.ts'
import { RpcError } from '../jsonrpc/error.ts'
import { ConfigError } from '../router/config/issue.ts'

/** Exit codes by name. Scripts rely on the numbers. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  timeout: 4,
  checkFailed: 5,
  unauthorized: 6,
  interrupted: 130,
} as const

export type ExitName = keyof typeof exitCodes

/** Descriptions of the exit codes, for help and documentation. */
export const exitMeanings: Readonly<Record<ExitName, string>> = {
  ok: 'Success.',
  failed: 'The server or the tool returned an error.',
  usage: 'Invalid command line, or invalid file named on it.',
  unreachable: 'The server cannot be reached or started, or the connection was lost.',
  timeout: 'The server did not respond in time.',
  checkFailed: 'A step of `check` failed, or a line of an audit log was changed.',
  unauthorized: 'The server requires authorization, or the login failed.',
  interrupted: 'Interrupted, for example by Ctrl-C.',
}

/** An invalid command line. The message says what to type instead. */
export class UsageError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = 'UsageError'
  }
}

/** A file that cannot be used. The message has the reason, and no help page would add anything. */
export class FileError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = 'FileError'
  }
}

/** Runs `work`, and converts a TypeError, which means that it was called incorrectly, to a UsageError. */
export async function withUsageErrors<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(error.message, { cause: error })
  }
}

/** The abort reason of a command's signal when the program is interrupted. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted')
    this.name = 'Interrupted'
  }
}

/** A request that failed for want of authorization. */
export interface AuthorizationFailure {
  /** The address of the server, if it is known. */
  readonly server?: string
  /** Whether the authorization server could not be reached. */
  readonly isTemporary?: boolean
  /** Whether a login would help. */
  readonly needsLogin: boolean
}

/** Returns why a request was not authorized; undefined for any other error. */
export function authorizationFailure(error: unknown): AuthorizationFailure | undefined {
  const cause = error instanceof ChannelError ? error.cause : error
  if (cause instanceof HttpStatusError) {
    // A 403 is about credentials only if the server says so; else it is about Host, Origin or the network.
    const { status, headers, message } = cause
    if (status !== 401 && !(status === 403 && headers.has('www-authenticate'))) return undefined
    const [server] = /https?:\/\/\S+/.exec(message) ?? []
    return { server, needsLogin: true }
  }
  // By its name, because the class belongs to a module that is loaded only where authorization is used.
  if (!(cause instanceof Error) || cause.name !== 'AuthError') return undefined
  const { code, url: server } = cause as Error & { readonly code?: string; readonly url?: string }
  return { server, isTemporary: code === 'unreachable', needsLogin: code === 'login-required' }
}

/** Returns the name of the exit code for an error. */
export function exitNameOf(error: unknown): ExitName {
  if (error instanceof Interrupted) return 'interrupted'
  if (error instanceof UsageError || error instanceof FileError) return 'usage'
  if (error instanceof ConfigError) return 'usage'
  if (error instanceof RpcError) return 'failed'
  const refusal = authorizationFailure(error)
  if (refusal !== undefined) return refusal.isTemporary ? 'unreachable' : 'unauthorized'
  if (!(error instanceof ChannelError)) return 'failed'
  switch (error.code) {
    case 'timeout':
      return 'timeout'
    case 'refused':
    case 'closed':
    case 'outcome-unknown':
      return 'unreachable'
    case 'too-large':
    case 'too-slow':
    case 'too-many':
    case 'framing':
    case 'unserialisable':
    case 'id-overflow':
    case 'id-collision':
      return 'failed'
  }
}
