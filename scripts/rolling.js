// npm run rolling: restarts two servers in turn behind nginx and HAProxy, while clients call through the proxy,
// and accounts for every call. Uses the proxies that are installed, and fails if there is none.
//
//   --rounds N   how often each server is restarted; 4 by default

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { haproxy, nginx } from '../test/rolling/proxies.js'
import { freePort } from './free-port.js'
import { build, isStale, root } from './steps.js'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '4' } } })
const rounds = Number(values.rounds)
const clients = 8

if (isStale() && !(await build())) process.exit(1)
const folder = await mkdtemp(join(tmpdir(), 'trunkline-rolling-'))
const running = new Set()
let tried = 0
let failed = 0
try {
  for (const proxy of [haproxy, nginx]) failed += await rollBehind(proxy)
} finally {
  for (const child of running) child.kill('SIGTERM')
  await rm(folder, { recursive: true, force: true })
}
if (tried === 0) console.error('neither nginx nor HAProxy is installed')
process.exit(tried > 0 && failed === 0 ? 0 : 1)

/** Rolls two servers behind a proxy. Returns the number of failed calls. */
async function rollBehind(proxy) {
  const ports = [await freePort(), await freePort()]
  const port = await freePort()
  const front = start(proxy.program, await proxy.prepare(folder, port, ports))
  const isMissing = await Promise.race([
    once(front, 'spawn').then(() => false),
    once(front, 'error').then(() => true),
  ])
  if (isMissing) {
    running.delete(front)
    console.log(`${proxy.program}: not installed`)
    return 0
  }
  tried++
  const servers = await Promise.all(ports.map(startServer))
  await until(() => call(port, undefined))
  const load = startLoad(port)
  for (let round = 0; round < rounds; round++) {
    for (const [index, at] of ports.entries()) {
      servers[index].kill('SIGTERM')
      await once(servers[index], 'exit')
      servers[index] = await startServer(at)
      const { pid } = servers[index]
      await until(async () => {
        if (!load.hasSeen(pid)) throw new Error(`the proxy sends no calls to the server ${pid}`)
      })
    }
  }
  const { calls, failures } = await load.stop()
  for (const child of servers) child.kill('SIGKILL')
  // A proxy that is killed leaves its workers behind.
  front.kill('SIGTERM')
  await once(front, 'exit')
  console.log(
    `${proxy.program}: ${calls} calls over ${rounds * 2} restarts, ${failures.length} failed`,
  )
  for (const failure of failures.slice(0, 10)) console.log(`- ${failure}`)
  return failures.length + (calls === 0 ? 1 : 0)
}

/** Calls from several clients, each with its kept connection, until it is stopped. */
function startLoad(port) {
  let isStopped = false
  let calls = 0
  const failures = []
  const pids = new Set()
  const one = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (!isStopped) {
      calls++
      await call(port, agent).then(
        pid => pids.add(pid),
        error => failures.push(error.message),
      )
    }
    agent.destroy()
  }
  const all = Promise.all(Array.from({ length: clients }, one))
  const stop = async () => {
    isStopped = true
    await all
    return { calls, failures }
  }
  return { stop, hasSeen: pid => pids.has(pid) }
}

/** Calls the tool once, and resolves to the process that answered; rejects unless there is a result. */
function call(port, agent) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'rolling', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name: 'work', arguments: {}, _meta }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'work',
    'content-length': Buffer.byteLength(body),
  }
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method: 'POST', path: '/mcp', headers, agent })
    sent.on('error', reject)
    sent.on('response', response => {
      let text = ''
      response.on('error', reject)
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => {
        const [, pid] = /"text":"(\d+)"/.exec(text) ?? []
        if (response.statusCode === 200 && pid !== undefined) resolve(Number(pid))
        else reject(new Error(`${response.statusCode} ${text.slice(0, 200)}`))
      })
    })
    sent.end(body)
  })
}

async function startServer(port) {
  const child = start(process.execPath, [join(root, 'test/rolling/server.js'), String(port)])
  await until(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`)
    if (response.status !== 200) throw new Error('not ready')
  })
  return child
}

function start(program, args) {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** Repeats an attempt until it succeeds, for a minute. */
async function until(attempt) {
  for (let left = 1200; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 0) throw error
      await pause(50)
    }
  }
}
