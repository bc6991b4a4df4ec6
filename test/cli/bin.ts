import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** A fixture of this folder, or one beside it. */
export function fixture(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}

/** Words behind `--` that start the server with every feature. */
export const everything = ['--', process.execPath, fixture('../fixtures/everything-stdio.js')]

export interface RunOptions {
  /** What it reads; nothing unless said. */
  readonly input?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** What became of a program. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** What it printed on stdout, as JSON. */
  readonly json: () => ReturnType<typeof JSON.parse>
}

/** Starts the program with pipes, as a script does. */
export function start(
  args: readonly string[],
  { cwd, env }: RunOptions = {},
): ChildProcessWithoutNullStreams {
  const { NO_COLOR: _, FORCE_COLOR: __, ...inherited } = process.env
  return spawn(process.execPath, [bin, ...args], { cwd, env: { ...inherited, ...env } })
}

/** Runs the program to its end. */
export async function trunkline(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = start(args, options)
  child.stdin.end(options.input ?? '')
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code, stdout, stderr, json: () => JSON.parse(stdout) }
}
