import { existsSync } from 'node:fs'
import { ChannelError } from '../../jsonrpc/channel.ts'
import { errorMessage } from '../../util/text/error-message.ts'

/** The part of a command that explains why it cannot be started. */
interface FailedCommand {
  readonly command: string
  readonly cwd?: string
}

/**
 * Creates the error for a command that could not be started. It says what to change; its cause has the
 * details, such as PATH, and the system error.
 */
export function spawnFailure(
  command: FailedCommand,
  env: Readonly<Record<string, string>>,
  cause: unknown,
): ChannelError {
  const { reason, details } = explain(command, env, cause)
  const why = details === undefined ? cause : new Error(details, { cause })
  return new ChannelError('refused', `starting "${command.command}": ${reason}`, {
    cause: why,
    summary: 'it cannot be started',
  })
}

/**
 * Whether an error means that a program cannot be started, now or later, until its configuration or this
 * machine changes.
 */
export function isUnstartable(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 8; one = one.cause, depth++) {
    if ('syscall' in one && 'code' in one && String(one.syscall).startsWith('spawn'))
      return permanent.has(String(one.code))
  }
  return false
}

const permanent: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC'])

interface Explanation {
  readonly reason: string
  readonly details?: string
}

function explain(
  { command, cwd }: FailedCommand,
  env: Readonly<Record<string, string>>,
  cause: unknown,
): Explanation {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const isPath = /[\\/]/.test(command)
  // The system reports ENOENT for the command also if the working directory is missing.
  if (code === 'ENOENT' && cwd !== undefined && !existsSync(cwd))
    return { reason: `the folder "${cwd}" does not exist` }
  if (code === 'EACCES')
    return { reason: 'permission denied: it must be an executable file (chmod +x)' }
  if (code !== 'ENOENT') return { reason: errorMessage(cause) }
  const [program, ...args] = command.trim().split(/\s+/)
  if (args.length > 0) {
    const meant = JSON.stringify({ command: program, args })
    return { reason: `no such program; did you mean ${meant.slice(1, -1)}?` }
  }
  // An interpreter that a script names in its first line may be missing too.
  if (isPath) return { reason: existsSync(command) ? 'its interpreter is missing' : 'no such file' }
  const details = `PATH is "${env.PATH ?? env.Path ?? ''}"`
  return { reason: `no such program in PATH: install it, or correct its name`, details }
}
