import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../scripts/steps.js'
import { folder } from './install.js'

const program = join(root, 'dist/cli/main.js')
const eras = { session: '2025-11-25', stateless: '2026-07-28' }

/** Writes the configuration file of all servers, as a host would have it. Returns its path. */
export function writeConfig(commands) {
  const mcpServers = {}
  for (const { name, command, args, cwd, env } of commands)
    mcpServers[name] = { command, args, cwd, env }
  const file = join(folder, 'mcp.json')
  writeFileSync(file, JSON.stringify({ mcpServers, listen: 'http://127.0.0.1:0/mcp' }, null, 2))
  return file
}

/**
 * Runs `trunkline up` with all servers: first with no remembered lists, then with those of the first run.
 * Lists and calls every server in both eras.
 */
export async function runRouted(file, servers) {
  const cache = join(folder, 'lists.json')
  rmSync(cache, { force: true })
  const cold = await up(file, cache)
  const first = await cold.client('stateless', client => timed(() => toolsOf(client)))
  const allMs = performance.now() - cold.begin
  const lists = {}
  const calls = {}
  for (const era of Object.keys(eras)) {
    await cold.client(era, async client => {
      lists[era] = await timed(() => toolsOf(client))
      calls[era] = await callAll(client, servers)
    })
  }
  const rssMb = memoryOf(cold.child.pid)
  const status = await (await fetch(new URL('/readyz', cold.address))).json()
  await cold.end()
  const warm = await up(file, cache)
  const again = await warm.client('stateless', client => timed(() => toolsOf(client)))
  const warmMs = again.ms
  await warm.end()
  const tools = first.value.map(({ name }) => name)
  return {
    allMs,
    tools,
    bytes: JSON.stringify(first.value).length,
    lists,
    calls,
    rssMb,
    status,
    warmMs,
    warmTools: again.value.length,
  }
}

async function up(file, cache) {
  const begin = performance.now()
  const args = [program, 'up', file, '--json', '--cache', cache]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const exit = once(child, 'exit')
  const address = await addressOf(child)
  const { connect } = await import('../dist/index.js')
  return {
    begin,
    child,
    address,
    async client(era, use) {
      const client = await connect(address, { revisions: [eras[era]], timeoutMs: 120_000 })
      try {
        return await use(client)
      } finally {
        await client.close()
      }
    },
    async end() {
      child.kill('SIGTERM')
      await exit
    },
  }
}

async function addressOf(child) {
  let printed = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    printed += chunk
    const found = /"(http:\/\/127\.0\.0\.1:\d+\/mcp)"/.exec(printed)
    if (found !== null) {
      child.stdout.resume()
      return found[1]
    }
  }
  throw new Error(`trunkline up has exited: ${printed}`)
}

async function toolsOf(client) {
  const tools = []
  for await (const tool of client.tools()) tools.push(tool)
  return tools
}

async function callAll(client, servers) {
  const answers = {}
  for (const { name, call = [] } of servers) answers[name] = await callOne(client, name, call)
  return answers
}

/** The outcome of one call: `result`, `tool error`, `error` by the server, or the failure of the router. */
async function callOne(client, name, [tool, args = {}]) {
  try {
    const result = await client.call(`${name}__${tool}`, args)
    return result.isError ? 'tool error' : 'result'
  } catch (error) {
    const isOwn = [-32000, -32008, -32009].includes(error.code) || error.kind === 'tool_not_found'
    return error.code === undefined || isOwn ? `FAILED: ${error.message}` : 'error'
  }
}

async function timed(run) {
  const begin = performance.now()
  const value = await run()
  return { ms: performance.now() - begin, value }
}

/** Returns the resident memory of a process in MB; undefined where there is no /proc. */
function memoryOf(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
  } catch {
    return undefined
  }
}
