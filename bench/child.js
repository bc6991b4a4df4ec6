import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The command of a server program in `servers/`, ready for `spawn`. */
export function command(program, ...args) {
  const profile = process.env.BENCH_PROFILE
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const file = fileURLToPath(new URL(`servers/${program}.js`, import.meta.url))
  return { command: process.execPath, args: ['--expose-gc', ...flags, file, ...args] }
}

/** Starts a server process that speaks on its stdio. It ends when its input ends. */
export function start(program, ...args) {
  const { command: node, args: all } = command(program, ...args)
  const child = spawn(node, all, { stdio: ['pipe', 'pipe', 'inherit'] })
  // A server that is gone is reported by whoever waits for its replies.
  child.stdin.on('error', () => {})
  return child
}

/** Starts a server process that listens, and waits for the port it tells. */
export async function startListening(program, ...args) {
  const child = start(program, ...args)
  const port = await Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data').then(([line]) => Number(line)),
    once(child, 'exit').then(([code]) => {
      throw new Error(`${program} ended with ${code} before it listened`)
    }),
  ])
  return { child, port }
}

/** Ends a process by the end of its input; kills it by its id when that does not help. */
export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.stdin.end()
  const late = setTimeout(() => child.kill('SIGKILL'), 5000)
  await gone
  clearTimeout(late)
}
