import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** Returns the path of a fixture, relative to this folder. */
export function fixture(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}

/** Arguments that start the server with every feature. */
export const everything = ['--', process.execPath, fixture('../fixtures/everything-stdio.js')]

export interface RunOptions {
  /** Text for stdin; empty by default. */
  readonly input?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Result of a program run. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Parses stdout as JSON. */
  readonly json: () => ReturnType<typeof JSON.parse>
}

/** Starts `trunkline` with pipes. */
export function start(
  args: readonly string[],
  { cwd, env }: RunOptions = {},
): ChildProcessWithoutNullStreams {
  const { NO_COLOR: _, FORCE_COLOR: __, ...inherited } = process.env
  return spawn(process.execPath, [bin, ...args], { cwd, env: { ...inherited, ...env } })
}

/** Runs `trunkline` until it exits. */
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
