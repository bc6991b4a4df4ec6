// Starts Redis for tests and benchmarks, on the loopback interface, with its data in a temporary folder.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engineProgram } from './engines.js'
import { freePort } from './free-port.js'

/** The program of Redis; undefined if it is not installed. */
export const redisProgram = engineProgram('redis')

/** Starts Redis. `settings` are those of its configuration file, as arguments: `['--maxmemory', '10mb']`. */
export async function redisServer(settings = []) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-redis-'))
  let { child, port, busPort, args } = await startSomewhere(folder, settings)
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const close = async () => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    port,
    busPort,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
    restart: async ({ isEmpty = false } = {}) => {
      await kill()
      if (isEmpty) rmSync(join(folder, 'appendonlydir'), { recursive: true, force: true })
      const next = await startRedis(args)
      if (next === undefined) throw new Error(`the port ${port} is in use by another program now`)
      child = next
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Starts Redis on a free port. Another program may take the port first; then the next one is tried. */
async function startSomewhere(folder, settings) {
  for (;;) {
    const [port, busPort] = [await freePort(), await freePort()]
    const fixed = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', folder, '--save', '']
    const bus = settings.includes('--cluster-enabled') ? ['--cluster-port', `${busPort}`] : []
    const debug = ['--appendonly', 'yes', '--enable-debug-command', 'local']
    const args = [...fixed, ...bus, ...debug, ...settings]
    const child = await startRedis(args)
    if (child !== undefined) return { child, port, busPort, args }
  }
}

/** Resolves to the process once it accepts connections; to undefined if it cannot listen on the port. */
export async function startRedis(args, ready = 'Ready to accept connections') {
  if (redisProgram === undefined) throw new Error('redis-server is not installed')
  const child = spawn(redisProgram, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let log = ''
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', code => {
      if (/address already in use/i.test(log)) resolve(undefined)
      else reject(new Error(`redis-server ended with ${code}:\n${log}`))
    })
    child.stdout.setEncoding('utf8').on('data', text => {
      log = (log + text).slice(-10_000)
      if (log.includes(ready)) resolve(child)
    })
  })
}
