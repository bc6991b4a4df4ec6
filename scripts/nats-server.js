// Starts NATS with JetStream for tests and benchmarks, on the loopback interface, with its data in a temporary folder.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engineProgram } from './engines.js'
import { freePort } from './free-port.js'

/** The program of NATS; undefined if it is not installed. */
export const natsProgram = engineProgram('nats')

/** Starts NATS. `settings` are further lines of its configuration file. */
export async function natsServer(settings = '') {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-nats-'))
  const data = join(folder, 'data')
  const file = join(folder, 'nats.conf')
  const streams = `jetstream { store_dir: ${JSON.stringify(data)} }`
  writeFileSync(file, `${/^jetstream/m.test(settings) ? '' : streams}\n${settings}\n`)
  let { child, port } = await startSomewhere(file)
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
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
    restart: async ({ isEmpty = false } = {}) => {
      await kill()
      if (isEmpty) rmSync(data, { recursive: true, force: true })
      const next = await start(file, port)
      if (next === undefined) throw new Error(`the port ${port} is in use by another program now`)
      child = next
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Starts NATS on a free port. Another program may take the port first; then the next one is tried. */
async function startSomewhere(file) {
  for (;;) {
    const port = await freePort()
    const child = await start(file, port)
    if (child !== undefined) return { child, port }
  }
}

/** Resolves to the process once it accepts connections; to undefined if it cannot listen on the port. */
async function start(file, port) {
  if (natsProgram === undefined) throw new Error('nats-server is not installed')
  const args = ['--config', file, '--addr', '127.0.0.1', '--port', `${port}`]
  const child = spawn(natsProgram, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', code => {
      if (/address already in use/i.test(log)) resolve(undefined)
      else reject(new Error(`nats-server ended with ${code}:\n${log}`))
    })
    child.stderr.setEncoding('utf8').on('data', text => {
      log = (log + text).slice(-10_000)
      if (log.includes('Server is ready')) resolve(child)
    })
  })
}
