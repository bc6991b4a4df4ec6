import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../scripts/free-port.js'
import { root } from '../scripts/steps.js'
import { folder } from './install.js'
import { environment } from './servers.js'

const program = join(root, 'dist/cli/main.js')

/** A revision of each era. */
export const eras = { session: '2025-11-25', stateless: '2026-07-28' }

/** Writes the configuration file of all servers, as a host would have it. Returns its path. */
export function writeConfig(commands) {
  const entries = commands.map(({ name, ...command }) => [name, command])
  const file = join(folder, 'mcp.json')
  writeFileSync(file, JSON.stringify({ mcpServers: Object.fromEntries(entries) }, null, 2))
  return file
}

/** Starts `trunkline up` and waits until it accepts connections. `cache` is the file of remembered lists. */
export async function startRouter(file, cache) {
  const port = await freePort()
  const begin = performance.now()
  const address = `http://127.0.0.1:${port}/mcp`
  const args = [program, 'up', file, '--quiet', '--cache', cache, '--listen', address]
  const child = spawn(process.execPath, args, { stdio: 'ignore', env: environment })
  const exit = once(child, 'exit')
  await Promise.race([accepted(address), exit.then(() => fail('trunkline up has exited'))])
  const { connect } = await import('../dist/index.js')
  return {
    /** When the process was started, and when it accepted a connection. */
    begin,
    acceptedAt: performance.now(),
    async client(era, use) {
      const client = await connect(address, { revisions: [eras[era]], timeoutMs: 300_000 })
      try {
        return await use(client)
      } finally {
        await client.close()
      }
    },
    async status() {
      return (await fetch(new URL('/readyz', address))).json()
    },
    /** The resident memory of the process in MB; undefined where there is no /proc. */
    memory: () => memoryOf(child.pid),
    async end() {
      child.kill('SIGTERM')
      await exit
    },
  }
}

/** Returns all tools that a client sees. */
export async function toolsOf(client) {
  const tools = []
  for await (const tool of client.tools()) tools.push(tool)
  return tools
}

async function accepted(address) {
  for (;;) {
    const isServed = await fetch(new URL('/healthz', address)).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isServed) return
    await sleep(2)
  }
}

function fail(message) {
  throw new Error(message)
}

function memoryOf(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
  } catch {
    return undefined
  }
}
