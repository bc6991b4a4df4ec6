import { execFile } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../scripts/steps.js'
import { folder, folderOf, nameOf } from './install.js'
import { environment } from './servers.js'

const execute = promisify(execFile)

/** Lets each host list and call two servers through `trunkline up` on stdio. Resolves to one row per host. */
export async function runHosts(hosts, commands) {
  const file = join(folder, 'two.json')
  const pair = commands.filter(({ name }) => name === 'everything' || name === 'memory')
  const entries = pair.map(({ name, ...command }) => [name, command])
  writeFileSync(file, JSON.stringify({ mcpServers: Object.fromEntries(entries) }))
  const server = {
    command: process.execPath,
    args: [join(root, 'dist/cli/main.js'), 'up', file, '--listen', 'stdio:'],
    env: environment,
  }
  const rows = []
  for (const host of hosts) {
    rows.push({ host, ...(await runHost(host, server)) })
    console.error(`${host.title}: ${rows.at(-1).error ?? 'ok'}`)
  }
  return rows
}

async function runHost(host, server) {
  const home = folderOf('hosts', host)
  // Beside the packages of the host, so that they are found.
  for (const name of [`${host.name}.mjs`, 'run-program.mjs']) {
    copyFileSync(join(root, 'zoo/hosts', name), join(home, name))
  }
  try {
    if (host.setUp !== undefined) {
      const script = join(home, 'node_modules', nameOf(host.packages[0]), host.setUp)
      await execute(process.execPath, [script], { cwd: join(script, '..') })
    }
    const args = [join(home, `${host.name}.mjs`), JSON.stringify(server)]
    const { stdout } = await execute(process.execPath, args, { cwd: home, timeout: 180_000 })
    const { tools, answer } = JSON.parse(stdout.trim().split('\n').at(-1))
    const text = JSON.stringify(answer)
    return /Echo: hi|connected/.test(text) ? { tools, answer } : { error: text }
  } catch (error) {
    return { error: error.message.split('\n').slice(0, 3).join(' ') }
  }
}
