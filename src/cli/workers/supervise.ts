import cluster from 'node:cluster'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memory } from '../../backplane/memory/memory.ts'
import { UsageError } from '../exit.ts'
import type { Invocation } from '../invocation.ts'
import { handleSighup } from '../up/sighup.ts'
import { WorkerPool } from './pool.ts'

/**
 * Runs this command in several processes, which share its addresses and, through this process, their state. Returns the
 * exit code when all have ended.
 */
export async function supervise(
  { input, terminal, signal }: Invocation,
  count: number,
): Promise<number> {
  if (!cluster.isPrimary) {
    throw new UsageError(
      '--workers cannot be used in a process that is itself a worker of node:cluster; start it without a process manager in cluster mode',
    )
  }
  const folder = socketFolder()
  const pool = new WorkerPool({
    count,
    state: memory(),
    folder,
    argsOf: worker => argumentsOf(worker, input.has('quiet')),
    note: text => terminal.note(text),
    error: text => terminal.error(`${terminal.styleStderr('trunkline:', 'red', 'bold')} ${text}`),
  })
  const stop = (): void => pool.stop()
  // Also if a second signal ends this process at once.
  const kill = (): void => pool.kill()
  const sighup = handleSighup(() => pool.reload())
  void sighup.terminalClosed.then(stop)
  process.once('exit', kill)
  try {
    const ended = pool.run()
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    return await ended
  } finally {
    process.off('exit', kill)
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    sighup.stop()
  }
}

/** Returns the arguments of a worker. Only the first one prints notes, which would be the same from all. */
function argumentsOf(worker: number, isQuiet: boolean): readonly string[] {
  const [command = '', ...rest] = process.argv.slice(2)
  return worker === 1 || isQuiet ? [command, ...rest] : [command, '--quiet', ...rest]
}

/** Makes the folder for the sockets of links, for this user alone; undefined if its path is too long for sockets. */
function socketFolder(): string | undefined {
  if (process.platform === 'win32' || Buffer.byteLength(tmpdir()) > maxFolderBytes) return undefined
  return mkdtempSync(join(tmpdir(), 'trunkline-'))
}

/** The shortest limit for the path of a socket is 103 bytes on the systems that Node runs on. */
const maxFolderBytes = 70
