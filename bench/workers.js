import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { compare } from './measure.js'
import { defaultBuild } from './ours.js'
import { aim, list } from './report.js'

const title = 'a tool that computes, with --workers'
const clients = 16

/** Measures calls of a tool that needs the processor, served by one process and by two. */
export async function workers({ rounds, seconds = 1, only, alone, log }) {
  if (!title.includes(only)) return []
  log(title)
  const contestants = [contestant('one process', 1), contestant('trunkline', 2)]
  const results = await compare(contestants, { rounds, seconds, alone })
  const aims = [aim(results, { than: 'one process', least: 1.4 })]
  const workload = { name: title, bytes: 0, results, aims }
  return [{ title, notes, workloads: [workload], text: list(workload) }]
}

const notes = [
  `tools/call over HTTP in ${clients} sessions, one call in flight in each, each on a connection of its own. A call takes`,
  'a few milliseconds of a core. Both are `trunkline serve`: without --workers, and with --workers 2.',
]

function contestant(name, count) {
  let child
  let sessions = []
  return {
    name,
    open: async () => {
      const main = join(process.env.TRUNKLINE_DIST ?? defaultBuild, 'cli', 'main.js')
      const file = fileURLToPath(new URL('servers/compute.js', import.meta.url))
      const args = [main, 'serve', file, '--http', '0', '--workers', String(count), '--json']
      child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
      const address = await addressOf(child)
      sessions = await Promise.all(Array.from({ length: clients }, () => session(address)))
    },
    check: async () => {
      const { result } = JSON.parse(await sessions[0].call())
      if (result?.content?.[0]?.type !== 'text') throw new Error('a wrong result')
    },
    run: async total => {
      let left = total
      const drive = async ({ call }) => {
        while (left-- > 0) await call()
      }
      await Promise.all(sessions.map(drive))
    },
    close: async () => {
      for (const { agent } of sessions) agent.destroy()
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

async function addressOf(child) {
  let text = ''
  for await (const line of createInterface({ input: child.stdout })) {
    text += line
    if (line === '}') return JSON.parse(text).addresses[0]
  }
  throw new Error('trunkline serve has ended')
}

/** Opens a session on a connection of its own. */
async function session(address) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let id
  const post = async message => {
    const sent = request(address, {
      method: 'POST',
      agent,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        ...(id !== undefined && { 'mcp-session-id': id }),
      },
    })
    sent.end(JSON.stringify({ jsonrpc: '2.0', ...message }))
    const [response] = await once(sent, 'response')
    id ??= response.headers['mcp-session-id']
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    return text
  }
  const clientInfo = { name: 'bench', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  await post({ id: 0, method: 'initialize', params })
  await post({ method: 'notifications/initialized' })
  const call = () =>
    post({ id: 1, method: 'tools/call', params: { name: 'compute', arguments: {} } })
  return { agent, call }
}
