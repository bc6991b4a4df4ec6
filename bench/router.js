import assert from 'node:assert/strict'
import { httpContestant } from './http-client.js'
import { openStdio, workOf } from './mcp/stdio.js'
import { toolRequest } from './mcp/wire.js'
import { compare } from './measure.js'
import { ours } from './ours.js'
import { rawClient } from './raw.js'
import { aim, list, rate, table } from './report.js'

/** A server called directly, through our router over HTTP and stdio, and through other packages. */
const overHttp = [
  ['direct', 'stateless', ['http-trunkline']],
  ['trunkline', 'stateless', ['router-trunkline', 'http']],
  ['trunkline, plain HTTP upstream', 'stateless', ['router-trunkline', 'plain-http']],
  ['trunkline, session', 'session', ['router-trunkline', 'http']],
  ['trunkline, stdio upstream', 'stateless', ['router-trunkline', 'stdio']],
  ['trunkline, stdio upstream, session', 'session', ['router-trunkline', 'stdio']],
  ['mcp-proxy', 'session', ['router-rival', 'mcp-proxy']],
  ['supergateway', 'session', ['router-rival', 'supergateway']],
]

const overStdio = [
  ['direct', 'stateless', ['mcp-trunkline']],
  ['trunkline', 'stateless', ['router-trunkline', 'stdio', 'stdio']],
  ['trunkline, direct, session', 'session', ['mcp-trunkline']],
  ['trunkline, session', 'session', ['router-trunkline', 'stdio', 'stdio']],
]

/** Measures the cost of one hop through a router, compared with a direct call and with other packages. */
export async function router(options) {
  return [...(await http(options)), ...(await stdio(options)), ...(await growth(options))]
}

async function http({ rounds, seconds = 1, only, alone, log }) {
  const reports = []
  for (const connections of [1, 32]) {
    const title = `One hop over HTTP, ${connections} connection${connections > 1 ? 's' : ''}`
    if (!title.includes(only)) continue
    log(title)
    const contestants = overHttp.map(([name, era, program]) =>
      httpContestant({
        name,
        program,
        era,
        answers: isRival(name) ? 'events' : 'json',
        connections,
        usage: usageOf(program),
      }),
    )
    const results = await compare(contestants, { rounds, seconds, alone })
    const rows = results.map(result => {
      if (result.failed !== undefined) return [result.name, 'failed', result.failed, '', '', '']
      const { name, perSecond, ratio, cpuMicros } = result
      const latencies = contestants.find(one => one.name === name)?.latencies() ?? []
      return [
        name,
        rate(perSecond.median),
        `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`,
        isRival(name) ? '–' : cpuMicros.median.toFixed(1),
        micros(latencies, 0.5),
        micros(latencies, 0.99),
      ]
    })
    const aims =
      connections === 1
        ? []
        : [
            aim(results, { than: 'the floor', least: 0.5 }),
            ...['mcp-proxy', 'supergateway'].map(than =>
              aim(results, { who: 'trunkline, stdio upstream, session', than, least: 5 }),
            ),
          ]
    const bytes = toolRequest('stateless', 500).length
    reports.push({
      title,
      notes,
      workloads: [{ name: title, bytes, results, aims }],
      text: table(head, rows),
    })
  }
  return reports
}

async function stdio({ rounds, seconds = 1, only, alone, log }) {
  const title = 'One hop over stdio, 64 in flight'
  if (!title.includes(only)) return []
  log(title)
  const contestants = overStdio.map(([name, era, program]) =>
    rawClient(name, () => openStdio(era, program), 64, workOf(era, usageOf(program))),
  )
  const results = await compare(contestants, { rounds, seconds, alone })
  const bytes = toolRequest('stateless', 500).length
  const aims = [
    aim(results, { than: 'the floor', least: 0.5 }),
    aim(results, { who: 'trunkline, session', than: 'trunkline, direct, session', least: 0.5 }),
  ]
  const workload = { name: title, bytes, results, aims }
  return [{ title, notes, workloads: [workload], text: list(workload) }]
}

const head = ['contestant', '1/s', '× direct (spread)', 'CPU µs each', 'p50 µs', 'p99 µs']

const notes = [
  'Tool calls from the same raw client to a server in a separate process; the router is a third process in between. Only the',
  'server validates the arguments, with Zod. mcp-proxy and supergateway support only session-based versions, respond with',
  'event streams, and have the same server upstream, on stdio. Over HTTP our router calls the server through a WebSocket, as',
  'it does whenever one is offered; "plain HTTP upstream" sends one request per call. CPU is that of the router process; for',
  '"direct" it is that of the server.',
]

/** Measures whether the cost of a call depends on the number of servers and tools. */
async function growth({ rounds, seconds = 0.1, only, log }) {
  if (process.env.BENCH_AGAINST !== undefined) return []
  const title = 'One hop in process, by number of servers and tools'
  if (!title.includes(only)) return []
  log(title)
  const sizes = [
    [1, 10],
    [1, 1000],
    [1, 10_000],
    [20, 50],
    [200, 50],
  ]
  const contestants = sizes.map(([servers, tools]) => inProcess(servers, tools))
  const results = await compare(contestants, { rounds, seconds })
  const workload = { name: title, bytes: 0, results, aims: [] }
  return [
    {
      title,
      notes: ['64 calls in flight from a client to a router to servers, all in one process.'],
      workloads: [workload],
      text: list(workload),
    },
  ]
}

function inProcess(servers, tools) {
  let router
  let client
  let name
  return {
    name: `${servers} server${servers > 1 ? 's' : ''} of ${tools} tools`,
    async open() {
      const { Server, connect } = await ours('index')
      const { Router } = await ours('router/index')
      const behind = Array.from({ length: servers }, (_, at) => {
        const server = new Server({ name: `s${at}`, version: '1' })
        for (let tool = 0; tool < tools; tool++) server.tool(`tool${tool}`, {}, () => 'done')
        return [`s${at}`, server]
      })
      router = new Router({ servers: Object.fromEntries(behind) })
      await router.ready()
      client = await connect(router)
      name = `s${servers - 1}__tool${tools - 1}`
    },
    async check() {
      assert.equal((await client.call(name)).text, 'done')
    },
    run(count) {
      let unsent = count
      const next = async () => {
        while (unsent-- > 0) await client.call(name)
      }
      return Promise.all(Array.from({ length: 64 }, next)).then(() => undefined)
    },
    async close() {
      await client.close()
      await router.close()
    },
  }
}

/** Returns the tool that reports the CPU time: of our router, not of the server behind it. */
function usageOf([program]) {
  return program === 'router-trunkline' ? 'router__usage' : 'usage'
}

function isRival(name) {
  return name === 'mcp-proxy' || name === 'supergateway'
}

function micros(sorted, share) {
  return ((sorted[Math.floor(sorted.length * share)] ?? Number.NaN) * 1000).toFixed(0)
}
