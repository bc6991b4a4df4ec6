import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Returns the command line of a server program in `servers/`, for `spawn`. */
export function command(program, ...args) {
  const profile = process.env.BENCH_PROFILE
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const file = fileURLToPath(new URL(`servers/${program}.js`, import.meta.url))
  return { command: process.execPath, args: ['--expose-gc', ...flags, file, ...args] }
}

/** Starts a server process on stdio. It exits when its stdin closes. */
export function start(program, ...args) {
  const { command: node, args: all } = command(program, ...args)
  const child = spawn(node, all, { stdio: ['pipe', 'pipe', 'inherit'] })
  // The code that waits for replies reports a server that has exited.
  child.stdin.on('error', () => {})
  return child
}

/** Starts a server process that listens, and waits until it reports its port. */
export async function startListening(program, ...args) {
  const child = start(program, ...args)
  const port = await Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data').then(([line]) => Number(line)),
    once(child, 'exit').then(([code]) => {
      throw new Error(`${program} exited with ${code} before it listened`)
    }),
  ])
  return { child, port }
}

/** Stops a process by closing its stdin, and kills it by its id if that does not help. */
export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.stdin.end()
  const late = setTimeout(() => child.kill('SIGKILL'), 5000)
  await gone
  clearTimeout(late)
}
