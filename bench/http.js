import { httpContestant } from './http-client.js'
import { toolRequest } from './mcp/wire.js'
import { compare } from './measure.js'
import { aim, rate, table } from './report.js'

const json = [
  ['node:http', 'stateless', ['http-bare', 'json']],
  ['trunkline', 'stateless', ['http-trunkline']],
  ['trunkline, session', 'session', ['http-trunkline']],
  ['SDK 1.32', 'session', ['http-sdk1', 'json']],
  ['SDK 2.4', 'stateless', ['http-sdk2', 'stateless', 'json']],
  ['SDK 2.4, session', 'session', ['http-sdk2', 'session', 'json']],
]

const events = [
  ['node:http', 'stateless', ['http-bare', 'events']],
  ['trunkline', 'stateless', ['http-trunkline']],
  ['trunkline, session', 'session', ['http-trunkline']],
  ['SDK 1.32', 'session', ['http-sdk1', 'events']],
  ['SDK 2.4', 'stateless', ['http-sdk2', 'stateless', 'events']],
  ['SDK 2.4, session', 'session', ['http-sdk2', 'session', 'events']],
]

const hono = [
  ['Hono, JSON route', 'stateless', ['http-hono', 'bare']],
  ['trunkline', 'stateless', ['http-hono', 'trunkline']],
  ['trunkline, session', 'session', ['http-hono', 'trunkline']],
]

const suites = [
  { answers: 'JSON answers', field: json },
  { answers: 'event streams', field: events },
  { answers: 'mounted in Hono', field: hono },
]

/** The targets. One connection has none: it measures how fast two processes wake each other. */
const aims = {
  'JSON answers': { 32: floorAnd(1.3, 8), 256: floorAnd(0.9, 8) },
  'event streams': { 32: floorAnd(1.3, 8), 256: floorAnd(0.9, 8) },
  'mounted in Hono': { 32: [{ than: 'the floor', least: 0.8 }] },
}

/** Measures tool calls over HTTP in both eras: servers in separate processes, one cheap client for all. */
export async function http({ rounds, seconds = 0.2, only, alone, log }) {
  const reports = []
  for (const { answers, field } of suites) {
    for (const connections of [1, 32, 256]) {
      const title = `MCP over HTTP, ${answers}, ${connections} connection${connections > 1 ? 's' : ''}`
      if (!title.includes(only)) continue
      log(title)
      const contestants = field.map(([name, era, program]) => {
        const kind = answers === 'event streams' ? 'events' : 'json'
        return httpContestant({ name, program, era, answers: kind, connections })
      })
      const results = await compare(contestants, { rounds, seconds, alone })
      const wanted = aims[answers][connections] ?? []
      const workload = {
        name: `${answers}, ${connections}`,
        bytes: toolRequest('stateless', 500).length,
        results,
        aims: wanted.map(one => aim(results, one)),
      }
      reports.push({ title, notes, workloads: [workload], text: listed(results, contestants) })
    }
  }
  return reports
}

const notes = [
  `POST of a tools/call of ${toolRequest('stateless', 500).length} bytes (session: ${toolRequest('session', 500).length}), to a separate process, with one request in`,
  'flight per connection. The same raw client drives every server and counts responses; before that it checks that they match',
  'their requests. All but the floor validate the arguments with Zod. The floor parses the body and runs the tool.',
]

function floorAnd(floor, sdk) {
  return [
    { than: 'the floor', least: floor },
    { than: 'SDK 2.4', least: sdk },
    { than: 'SDK 2.4, session', least: sdk },
    { than: 'SDK 1.32', least: sdk },
  ]
}

function listed(results, contestants) {
  const rows = results.map(result => {
    if (result.failed !== undefined) return [result.name, 'failed', '', '', '', '', '']
    const { name, perSecond, ratio, cpuMicros } = result
    const latencies = contestants.find(one => one.name === name)?.latencies() ?? []
    return [
      name,
      rate(perSecond.median),
      `${rate(perSecond.min)}–${rate(perSecond.max)}`,
      `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`,
      cpuMicros.median.toFixed(1),
      micros(latencies, 0.5),
      micros(latencies, 0.99),
    ]
  })
  const head = [
    'contestant',
    '1/s',
    'spread',
    '× floor (spread)',
    'CPU µs each',
    'p50 µs',
    'p99 µs',
  ]
  return table(head, rows)
}

function micros(sorted, share) {
  return ((sorted[Math.floor(sorted.length * share)] ?? Number.NaN) * 1000).toFixed(0)
}
