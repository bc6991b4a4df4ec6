import { createClient } from '@redis/client'
import { redisProgram, redisServer } from '../scripts/redis-server.js'
import { startListening, stop } from './child.js'
import { adoption } from './cluster-adoption.js'
import { httpContestant, openLink, textOf, writer } from './http-client.js'
import { request } from './mcp/wire.js'
import { compare } from './measure.js'
import { aim, list, table } from './report.js'

/**
 * Measures calls to a node of a cluster: without a session, at the owner of their session, and at another node, which
 * forwards them. Counts what the engine has to do meanwhile.
 */
export async function cluster({ rounds, seconds = 0.2, only, alone, log }) {
  if (redisProgram === undefined) throw new Error('redis-server is not installed')
  const engine = await redisServer()
  const address = `redis://127.0.0.1:${engine.port}`
  const owner = await startListening('cluster-trunkline', address)
  const counter = await createClient({ url: address }).connect()
  const reports = []
  try {
    for (const connections of [1, 64]) {
      const about = { answers: 'json', connections }
      const alone1 = ['http-trunkline']
      const node = ['cluster-trunkline', address]
      const stateless = { ...about, era: 'stateless' }
      const session = { ...about, era: 'session' }
      const contestants = [
        httpContestant({ ...stateless, name: 'trunkline', program: alone1 }),
        httpContestant({ ...stateless, name: 'trunkline, node', program: node }),
        httpContestant({ ...session, name: 'trunkline, session', program: alone1 }),
        httpContestant({ ...session, name: 'trunkline, session at its node', program: node }),
        forwarded({ ...session, name: 'trunkline, session at another node', program: node }, owner),
      ].map(contestant => counted(contestant, counter))
      const title = `A node of a cluster, ${connections} connection${connections > 1 ? 's' : ''}`
      if (!title.includes(only)) continue
      log(title)
      const results = await compare(contestants, { rounds, seconds, alone })
      const workload = { name: title, results, aims: aimsOf(results, connections) }
      const latencies = contestants.map(contestant => [
        contestant.name,
        quantile(contestant.latencies(), 0.5),
        quantile(contestant.latencies(), 0.99),
        contestant.operations().toFixed(4),
      ])
      const head = ['', 'p50, ms', 'p99, ms', 'commands of the engine per call']
      const text = `${list(workload)}\n\n${table(head, latencies)}`
      reports.push({ title, notes, workloads: [workload], text })
    }
    const title = `A node with ${SESSIONS} sessions is killed`
    if (title.includes(only)) {
      log(title)
      const text = await adoption(address, counter, SESSIONS)
      reports.push({ title, notes: adoptionNotes, workloads: [], text })
    }
  } finally {
    counter.destroy()
    await stop(owner.child)
    await engine.close()
  }
  return reports
}

const SESSIONS = 10_000

const adoptionNotes = [
  'Three nodes; all sessions are opened at one, which is killed. From then on each session gets a ping at another node.',
]

const notes = [
  'tools/call to servers in separate processes, with one request in flight on each connection. "At another node" means two',
  'processes: the CPU time is that of both. The commands of the engine include heartbeats (one a second and node) and the',
  'heartbeats of nodes that belong to other contestants, which run meanwhile.',
]

function aimsOf(results, connections) {
  const [cheap, fast] = [
    { who: 'trunkline, node', than: 'trunkline', least: 0.98 },
    { who: 'trunkline, session at its node', than: 'trunkline, session', least: 0.98 },
  ]
  if (connections === 1) return []
  const share = {
    who: 'trunkline, session at another node',
    than: 'trunkline, session at its node',
    least: 0.5,
  }
  return [cheap, fast, share].map(each => aim(results, each))
}

/** A contestant whose session belongs to another process than the one that gets its requests. */
function forwarded(options, owner) {
  const contestant = httpContestant({ ...options, sessionPort: owner.port })
  const { twin: _, cpu: cpuOfOwner, ...rest } = contestant
  const text = request('stateless', 1, 'tools/call', { name: 'usage', arguments: {} })
  const accept = 'application/json'
  let link
  const cpuOfEdge = async () => {
    link ??= await openLink(contestant.port())
    const post = writer(contestant.port(), 'stateless', accept)
    return Number(textOf(await link.ask(post(text, 'tools/call', 'usage'))))
  }
  return {
    ...rest,
    cpu: async () => (await cpuOfOwner.call(contestant)) + (await cpuOfEdge()),
    close: async () => {
      link?.close()
      await contestant.close()
    },
  }
}

/** Adds `operations()`: how many commands the engine has executed per call, the heartbeats of all nodes included. */
function counted(contestant, counter) {
  let commands = 0
  let calls = 0
  const executed = async () =>
    Number(/total_commands_processed:(\d+)/.exec(await counter.info('stats'))?.[1] ?? 0)
  return {
    ...contestant,
    twin: undefined,
    operations: () => commands / calls,
    run: async count => {
      const before = await executed()
      const started = performance.now()
      await contestant.run(count)
      const seconds = (performance.now() - started) / 1000
      // Without the command that counts them.
      commands += (await executed()) - before - 1
      calls += count
      return seconds
    },
  }
}

function quantile(sorted, share) {
  return (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(3)
}
