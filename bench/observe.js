import { httpContestant } from './http-client.js'
import { elsewhere } from './mcp/elsewhere.js'
import { kinds, turnedKinds } from './mcp/observed.js'
import { openStdio, workOf } from './mcp/stdio.js'
import { toolRequest } from './mcp/wire.js'
import { compare } from './measure.js'
import { rawClient } from './raw.js'
import { aim, list } from './report.js'
import { compareStates } from './states.js'

/** Measures the cost of observability: tool calls without it, without subscribers, and with everything on. */
export async function observe(options) {
  return [...(await onWires(options)), ...(await inProcess(options))]
}

const wires = [
  {
    name: 'over stdio, 64 in flight',
    contestant: (kind, era) =>
      rawClient(kind, () => openStdio(era, ['observed-trunkline', 'stdio', kind]), 64, workOf(era)),
  },
  {
    name: 'over HTTP, 32 connections',
    contestant: (kind, era) =>
      httpContestant({
        name: `trunkline, ${kind}`,
        program: ['observed-trunkline', 'http', kind],
        era,
        answers: 'json',
        connections: 32,
      }),
  },
]

async function onWires({ rounds, seconds = 0.05, only, log }) {
  const reports = []
  for (const { name: wire, contestant } of wires) {
    for (const era of ['stateless', 'session']) {
      for (const kind of turnedKinds) {
        const title = `Tool calls with observability switched on and off, ${wire}, ${era}, ${kind}`
        if (!title.includes(only)) continue
        log(title)
        const who = `trunkline, ${kind}`
        const states = ['trunkline', who]
        const results = await compareStates(contestant(kind, era), states, { rounds, seconds })
        const aims = [aim(results, { who, than: 'trunkline', least: 0.95 })]
        const bytes = toolRequest(era, 500).length
        const workload = { name: title, bytes, results, aims }
        reports.push({ title, notes: wireNotes, workloads: [workload], text: list(workload) })
      }
    }
  }
  return reports
}

const modes = [
  { name: 'sequential', inFlight: 1 },
  { name: '64 in flight', inFlight: 64 },
]

/** In process a call costs so little that every addition shows. It has no target. */
async function inProcess({ rounds, seconds = 0.15, only, alone, log }) {
  const reports = []
  for (const era of ['stateless', 'session']) {
    for (const { name, inFlight } of modes) {
      const title = `Tool calls with observability, in process, ${era}, ${name}`
      if (!title.includes(only)) continue
      log(title)
      const contestants = kinds.map(kind => ({
        ...elsewhere('observed', `${era} ${kind}`, inFlight),
        name: kind,
      }))
      const results = await compare(contestants, { rounds, seconds, alone })
      const workload = { name: title, results, aims: [] }
      reports.push({ title, notes, workloads: [workload], text: list(workload) })
    }
  }
  return reports
}

const wireNotes = [
  'tools/call to a server in a separate process. The same raw client drives it and counts responses. The server switches while',
  'it runs: off, on, on, off. "All on" means metrics, a log at level info, and tracing without a registered tracer, compared',
  'with a closed observer. "No subscribers" means a server that publishes events that have no subscribers, compared with one',
  'that has a pass-through middleware.',
]

const notes = [
  'tools/call from client to server and back, objects passed by reference, in one process per contestant. "All on" means',
  'metrics, a log at level info, and tracing without a registered tracer, also of the client. "No subscribers" means a server',
  'that publishes events that have no subscribers. "Any middleware" has a pass-through middleware, the cost of having any.',
]
