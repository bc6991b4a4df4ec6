import { run } from '../../src/cli/run.ts'

/** Runs `trunkline` in this process, and collects its output. */
export async function ran(args: readonly string[], env: Record<string, string> = {}) {
  const out: string[] = []
  const err: string[] = []
  const code = await run(args, {
    stdout: { write: text => out.push(text) },
    stderr: { write: text => err.push(text) },
    stdin: process.stdin,
    env,
  })
  return { code, stdout: out.join(''), stderr: err.join('') }
}
