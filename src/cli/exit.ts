import { ChannelError } from '../jsonrpc/channel.ts'
import { RpcError } from '../jsonrpc/error.ts'
import { ConfigError } from '../router/config/issue.ts'

/** What the program ends with, by name. Scripts rely on the numbers. */
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

/** What each of them means, for the manual. */
export const exitMeanings: Readonly<Record<ExitName, string>> = {
  ok: 'Everything went well.',
  failed: 'The server, or the tool, answered with an error.',
  usage: 'The command line, or a file that it names, cannot be understood.',
  unreachable: 'The server cannot be reached or started, or the connection was lost.',
  timeout: 'The server took too long.',
  checkFailed: 'A step of `check` failed.',
  interrupted: 'Interrupted, as by Ctrl-C.',
}

/** A command line that cannot be understood. The message says what to type instead. */
export class UsageError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = 'UsageError'
  }
}

/** Does something, and takes a TypeError, which means that it was asked wrongly, for a UsageError. */
export async function asked<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(error.message, { cause: error })
  }
}

/** Somebody wants the program to stop: what its signal is aborted with. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted')
    this.name = 'Interrupted'
  }
}

/** Which of the exit codes a failure means. */
export function exitNameOf(error: unknown): ExitName {
  if (error instanceof Interrupted) return 'interrupted'
  if (error instanceof UsageError || error instanceof ConfigError) return 'usage'
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
