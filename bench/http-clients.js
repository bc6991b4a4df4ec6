import assert from 'node:assert/strict'
import { Agent, request as nodeRequest } from 'node:http'
import { Pool } from 'undici'
import { startListening, stop } from './child.js'
import { compare, spread } from './measure.js'
import { inside } from './ours.js'
import { table } from './report.js'

const IN_FLIGHT = 32
const body = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'forecast', arguments: { city: 'Lisbon', days: 3, note: 'x'.repeat(180) } },
})
const kinds = [
  ['JSON', 'application/json', body.length],
  ['10 events', 'text/event-stream', 10 * (body.length + 'id: 0\ndata: \n\n'.length)],
]

/**
 * Compares HTTP clients: the processor time of the client process per request, with 32 requests in
 * flight, against one `node:http` echo in another process. Every client reads the whole body as bytes.
 */
export async function httpClients({ rounds, seconds = 0.5, only, alone, log }) {
  const { child, port } = await startListening('http-echo')
  const workloads = []
  try {
    for (const [kind, accept, bytes] of kinds.filter(([kind]) => kind.includes(only))) {
      log(`http-clients ${kind}`)
      const headers = { 'content-type': 'application/json', accept }
      const clients = [
        await trunkline(port, headers),
        undici(port, headers),
        node(port, headers),
        global(port, headers),
      ]
      const field = clients.map(client => contestant(client, bytes))
      const results = await compare(field, { rounds, seconds, alone })
      workloads.push({
        name: kind,
        bytes,
        results: results.map((each, at) => ({ ...each, cpu: field[at].cpuEach })),
      })
    }
  } finally {
    await stop(child)
  }
  return workloads.map(workload => ({
    title: `HTTP clients, ${workload.name}`,
    notes: [
      `POST of ${body.length} bytes, response body of ${workload.bytes} bytes, ${IN_FLIGHT} in flight, one node:http echo in another process.`,
      'CPU is that of the client process per request; its ratio is taken within each round (median, minimum and maximum).',
    ],
    text: shown(workload),
    workloads: [workload],
  }))
}

function contestant({ name, send, close }, bytes) {
  const cpuEach = []
  const once = async () => assert.equal(await send(), bytes)
  return {
    name,
    cpuEach,
    check: once,
    async run(count) {
      let left = count
      const before = process.cpuUsage()
      const worker = async () => {
        while (left-- > 0) await once()
      }
      await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
      const { user, system } = process.cpuUsage(before)
      cpuEach.push((user + system) / count)
    },
    close,
  }
}

function shown({ results }) {
  const rounds = results[0].rates?.length ?? 0
  // The runs before those of the rounds were the warm-up.
  const own = results.map(({ cpu }) => cpu.slice(-rounds))
  const rows = results.map((result, at) => {
    if (result.failed !== undefined) return [result.name, 'failed', '', '']
    const cpu = spread(own[at])
    const ratio = spread(own[at].map((each, round) => each / own[0][round]))
    return [
      result.name,
      cpu.median.toFixed(0),
      `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`,
      Math.round(result.perSecond.median),
    ]
  })
  return table(['client', 'CPU µs', '× trunkline (spread)', '1/s'], rows)
}

async function trunkline(port, headers) {
  const { nodeClient } = await inside('http/client/transport/node-pool')
  const { AbortHandle } = await inside('http/client/transport/http-client')
  const { systemClock } = await inside('util/time/clock')
  const client = nodeClient(systemClock)
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  return {
    name: 'trunkline',
    async send() {
      const handle = new AbortHandle()
      const response = await client.send({ method: 'POST', url, headers, added: {}, body, handle })
      assert.equal(response.status, 200)
      return (await response.whole(1e6)).length
    },
    close: () => client.close(),
  }
}

function undici(port, headers) {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: IN_FLIGHT })
  return {
    name: 'undici 7.30 request, Pool',
    async send() {
      const response = await pool.request({ path: '/mcp', method: 'POST', headers, body })
      assert.equal(response.statusCode, 200)
      return (await response.body.arrayBuffer()).byteLength
    },
    close: () => pool.close(),
  }
}

function node(port, headers) {
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })
  const options = { port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers, agent }
  return {
    name: 'node:http, keep-alive agent',
    send: () =>
      new Promise((resolve, reject) => {
        const request = nodeRequest(options, response => {
          const pieces = []
          response.on('data', piece => pieces.push(piece))
          response.on('error', reject)
          response.on('end', () => resolve(Buffer.concat(pieces).length))
        })
        request.on('error', reject)
        request.end(body)
      }),
    close: () => agent.destroy(),
  }
}

function global(port, headers) {
  const url = `http://127.0.0.1:${port}/mcp`
  return {
    name: 'global fetch',
    async send() {
      const response = await fetch(url, { method: 'POST', headers, body })
      assert.equal(response.status, 200)
      return (await response.arrayBuffer()).byteLength
    },
  }
}
