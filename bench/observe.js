import { httpContestant } from './http-client.js'
import { elsewhere } from './mcp/elsewhere.js'
import { kinds } from './mcp/observed.js'
import { openStdio, workOf } from './mcp/stdio.js'
import { toolRequest } from './mcp/wire.js'
import { compare } from './measure.js'
import { rawClient } from './raw.js'
import { aim, list } from './report.js'

/** What observing costs: tool calls without it, with nobody listening, and with all of it on. */
export async function observe(options) {
  return [...(await onWires(options)), ...(await inProcess(options))]
}

const wires = [
  {
    name: 'over stdio, 64 in flight',
    contestant: (name, kind, era) =>
      rawClient(name, () => openStdio(era, ['observed-trunkline', 'stdio', kind]), 64, workOf(era)),
  },
  {
    name: 'over HTTP, 32 connections',
    contestant: (name, kind, era) =>
      httpContestant({
        name,
        program: ['observed-trunkline', 'http', kind],
        era,
        answers: 'json',
        connections: 32,
      }),
  },
]

/** The floor a second time: what differs between the two is what this machine cannot measure. */
const control = 'trunkline, once more'

/** How often every server is started anew; each of them has `rounds` rounds. */
const starts = 5

async function onWires({ rounds, seconds = 0.3, only, alone, log }) {
  const reports = []
  for (const { name: wire, contestant } of wires) {
    for (const era of ['stateless', 'session']) {
      const title = `Tool calls observed ${wire}, ${era}`
      if (!title.includes(only)) continue
      log(title)
      const contestants = [
        ...kinds.map(kind => contestant(kind, kind, era)),
        contestant(control, 'trunkline', era),
      ]
      const results = await compare(contestants, {
        rounds: rounds * starts,
        starts,
        seconds,
        alone,
      })
      const aims = ['trunkline, nobody listens', 'trunkline, all on'].map(who =>
        aim(results, { who, than: 'trunkline', least: 0.95 }),
      )
      const bytes = toolRequest(era, 500).length
      const workload = { name: title, bytes, results, aims }
      reports.push({ title, notes: wireNotes, workloads: [workload], text: list(workload) })
    }
  }
  return reports
}

const modes = [
  { name: 'sequential', inFlight: 1 },
  { name: '64 in flight', inFlight: 64 },
]

/** Without a wire a call costs so little that whatever is done for it shows; for information. */
async function inProcess({ rounds, seconds = 0.15, only, alone, log }) {
  const reports = []
  for (const era of ['stateless', 'session']) {
    for (const { name, inFlight } of modes) {
      const title = `Tool calls observed in process, ${era}, ${name}`
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

const kindNotes = [
  '"all on" is metrics, a log of the level info, and tracing for which no tracer is registered; "nobody listens" is a',
  'server that would tell of its calls; "any middleware" has one that does nothing, which is what having any costs.',
]

const wireNotes = [
  'tools/call to a server in a process of its own, always the same raw client, which counts replies. Every server was',
  `started ${starts} times; "once more" is the floor a second time, which shows what the machine adds or takes by chance.`,
  ...kindNotes,
]

const notes = [
  'tools/call from client to server and back, objects handed over, in a process for each contestant.',
  ...kindNotes,
]
