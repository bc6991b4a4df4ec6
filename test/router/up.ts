import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import type { UpstreamOptions } from '../../src/router/options.ts'
import { start } from '../cli/bin.ts'
import { isAlive } from '../support/processes.ts'

/** The content of a configuration file. */
export interface UpConfig {
  readonly servers: Readonly<Record<string, UpstreamOptions>>
  readonly [setting: string]: unknown
}

/** `trunkline up`, once it serves. */
export interface Up {
  readonly child: ChildProcessWithoutNullStreams
  readonly pid: number
  readonly address: string
  /** The process ids of its upstream programs, by server name. */
  readonly pids: ReadonlyMap<string, readonly number[]>
  readonly file: string
  /** The lines of its stderr so far. */
  readonly said: readonly string[]
  /** Its exit code, or the signal that ended it. */
  readonly exit: Promise<number | NodeJS.Signals>
}

/** Runs `trunkline up` until the test finishes, unless it exits before. */
export async function up(config: UpConfig, args: readonly string[] = []): Promise<Up> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-up-'))
  const file = join(folder, 'trunkline.json')
  writeFileSync(file, JSON.stringify({ listen: 'http://127.0.0.1:0/mcp', ...config }))
  const child = start(['up', file, '--json', ...args])
  onTestFinished(() => {
    const { pid } = child
    if (pid !== undefined && child.exitCode === null && isAlive(pid)) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const said: string[] = []
  createInterface({ input: child.stderr }).on('line', line => said.push(line))
  const exit = once(child, 'exit').then(([code, signal]) => code ?? signal)
  const lines = createInterface({ input: child.stdout })
  let printed = ''
  for await (const line of lines) {
    printed += line
    if (isJson(printed)) break
  }
  const { addresses, servers, error } = isJson(printed) ? JSON.parse(printed) : {}
  if (addresses === undefined) {
    throw new Error(error?.message ?? said.join('\n'), { cause: await exit })
  }
  return {
    child,
    pid: child.pid as number,
    address: addresses[0],
    pids: new Map(
      servers.map(({ name, instances }: { name: string; instances: { pids: number[] }[] }) => [
        name,
        instances.flatMap(({ pids }) => pids),
      ]),
    ),
    file,
    said,
    exit,
  }
}

function isJson(said: string): boolean {
  try {
    JSON.parse(said)
    return true
  } catch {
    return false
  }
}
