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
  checkFailed: 'A step of `check` failed.',
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

/** Returns the name of the exit code for an error. */
export function exitNameOf(error: unknown): ExitName {
  if (error instanceof Interrupted) return 'interrupted'
  if (error instanceof UsageError || error instanceof FileError) return 'usage'
  if (error instanceof ConfigError) return 'usage'
  if (error instanceof RpcError) return 'failed'
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
