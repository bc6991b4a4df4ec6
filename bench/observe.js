import { elsewhere } from './mcp/elsewhere.js'
import { kinds } from './mcp/observed.js'
import { compare } from './measure.js'
import { aim, list } from './report.js'

const workloads = ['stateless', 'session'].flatMap(era => [
  { name: `${era}, sequential`, era, inFlight: 1 },
  { name: `${era}, 64 in flight`, era, inFlight: 64 },
])

/** What observing costs: tool calls in process without it, with nobody listening, and with all of it on. */
export async function observe({ rounds, seconds = 0.15, only, alone, log }) {
  const reports = []
  for (const { name, era, inFlight } of workloads) {
    const title = `Tool calls observed in process, ${name}`
    if (!title.includes(only)) continue
    log(title)
    const contestants = kinds.map(kind => ({
      ...elsewhere('observed', `${era} ${kind}`, inFlight),
      name: kind,
    }))
    const results = await compare(contestants, { rounds, seconds, alone })
    const aims = [
      aim(results, { who: 'trunkline, nobody listens', than: 'trunkline', least: 0.95 }),
      aim(results, { who: 'trunkline, all on', than: 'trunkline', least: 0.95 }),
    ]
    const workload = { name, results, aims }
    reports.push({ title, notes, workloads: [workload], text: list(workload) })
  }
  return reports
}

const notes = [
  'tools/call from client to server and back, objects handed over, in a process for each contestant. "all on" is',
  'metrics, a log of the level info, and tracing for which no tracer is registered; "nobody listens" is a server that',
  'would tell of its calls; "any middleware" has one that does nothing, which is what having any costs.',
]
