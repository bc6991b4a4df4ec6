// What the programs have in common that run as the engine of a cluster for tests and benchmarks: a process on the
// loopback interface, with its data in a temporary folder.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { freePort } from './free-port.js'

/** Starts an engine: see engine-server.d.ts. */
export async function engineServer({ folder, data, portCount = 1, start }) {
  let { child, ports } = await startSomewhere(portCount, start)
  const kill = () => killProcess(child)
  const close = async () => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    port: ports[0],
    ports,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
    restart: async ({ isEmpty = false } = {}) => {
      await kill()
      if (isEmpty) rmSync(data, { recursive: true, force: true })
      const next = await start(...ports)
      if (next === undefined) throw new Error(`another program uses a port of ${ports} now`)
      child = next
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Starts an engine on free ports. Another program may take one of them first; then the next ones are tried. */
async function startSomewhere(portCount, start) {
  for (;;) {
    const ports = []
    while (ports.length < portCount) ports.push(await freePort())
    const child = await start(...ports)
    if (child !== undefined) return { child, ports }
  }
}

/** Kills a process, also one that was paused. */
export async function killProcess(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGCONT')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Starts a program: see engine-server.d.ts. */
export function startProgram(program, args, ready) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => {
      if (/address already in use/i.test(log)) resolve(undefined)
      else reject(new Error(`${program} ended with ${code}:\n${log}`))
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', text => {
        log = (log + text).slice(-10_000)
        if (log.includes(ready)) resolve(child)
      })
    }
  })
}
