import type { Input } from './arguments.ts'
import type { Terminal } from './terminal.ts'

/** What a command works with. */
export interface Invocation {
  readonly input: Input
  readonly terminal: Terminal
  /** Aborted, with an Interrupted, when somebody wants the program to stop. */
  readonly signal: AbortSignal
  readonly stdin: NodeJS.ReadStream
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Does what a command is for, and gives the exit code. */
export type Run = (invocation: Invocation) => Promise<number>
