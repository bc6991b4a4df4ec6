import type { CommandLine } from '../arguments.ts'
import { UsageError } from '../exit.ts'
import type { Invocation } from '../invocation.ts'
import { workerCount } from './count.ts'
import { thisWorker, type Worker } from './worker.ts'

/**
 * Runs a command, with `--workers` in several processes: here their parent, which runs none of the command itself.
 * `serve` gets the worker that this process is, if it is one.
 */
export async function withWorkers(
  invocation: Invocation,
  serve: (invocation: Invocation, worker: Worker | undefined) => Promise<number>,
): Promise<number> {
  const { input, env } = invocation
  const worker = thisWorker(env)
  if (worker !== undefined) {
    const signal = AbortSignal.any([invocation.signal, worker.signal])
    try {
      return await serve({ ...invocation, signal }, worker)
    } finally {
      worker.end()
    }
  }
  const count = workerCount(input)
  if (count === 1 || input.has('dry-run')) return serve(invocation, undefined)
  checkOptions(input)
  const { supervise } = await import('./supervise.ts')
  return supervise(invocation, count)
}

/** Throws a UsageError for options that belong to one process. */
function checkOptions(input: CommandLine): void {
  const reasons = new Map([
    ['dev-auth', 'it starts an authorization server beside one process'],
    ['console', 'the console shows one process'],
  ])
  for (const [name, reason] of reasons) {
    if (!input.has(name)) continue
    throw new UsageError(`--${name} cannot be used with --workers: ${reason}`)
  }
}
