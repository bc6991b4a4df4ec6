import type { CommandLine } from './arguments.ts'
import type { Terminal } from './terminal.ts'

/** The input of a command. */
export interface Invocation {
  readonly input: CommandLine
  readonly terminal: Terminal
  /** Aborted with an Interrupted when the program is interrupted. */
  readonly signal: AbortSignal
  readonly stdin: NodeJS.ReadStream
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Runs a command and returns the exit code. */
export type Run = (invocation: Invocation) => Promise<number>
