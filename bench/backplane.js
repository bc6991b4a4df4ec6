import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { natsProgram, natsServer } from '../scripts/nats-server.js'
import { redisProgram, redisServer } from '../scripts/redis-server.js'
import { compare } from './measure.js'
import { ours } from './ours.js'
import { list } from './report.js'

const IN_FLIGHT = 64
const KEYS = 1000
const ttlMs = 3_600_000
const value = JSON.stringify({ text: 'x'.repeat(1000) })
const owner = { node: 'bench', epoch: 1 }

/** One operation of each kind, with a number that counts up. */
const operations = {
  'read a record of 1 KB': ({ store }, at) => store.get(`r${at % KEYS}`),
  'write a record of 1 KB for its owner': ({ store }, at) =>
    store.put(`r${at % KEYS}`, { value, ttlMs }, owner),
  'claim a new record of 1 KB': ({ store }, at) =>
    store.claim(`c${at}-${Math.random()}`, undefined, 'bench', { value, ttlMs: 60_000 }),
  'claim a record from another owner': ({ store }, at) => {
    // Each claim takes the record from the owner before.
    const [from, to] = at % 2 === 0 ? ['a', 'b'] : ['b', 'a']
    return store.claim('owned', from, to, { value: 'v', ttlMs })
  },
  'append an entry of 300 bytes': ({ log }, at) =>
    log.append(`l${at % KEYS}`, [{ epoch: Date.now() * 1000 + at, n: 1, fields }], retention),
  'take tokens of one bucket': ({ rates }, at) =>
    rates.take([{ bucket: `b${at % KEYS}`, perSecond: 1e6, burst: 1e6, want: 1, least: 1 }]),
  'heartbeat, 20 members, no changes': async ({ membership }, at) => {
    const since = revisions.get(membership) ?? 0
    const { revision } = await membership.heartbeat(`n${at % 20}`, 'facts', ttlMs, since)
    revisions.set(membership, revision)
  },
}
/** The revision that each engine returned last. */
const revisions = new Map()
const fields = { stream: 'a', data: 'x'.repeat(300) }
const retention = { ttlMs: 300_000, max: 1000 }

/** Measures the operations of a backplane in each engine that is available here. */
export async function backplane({ rounds, seconds = 0.2, only, alone, log }) {
  const { engines, close } = await start()
  const reports = []
  try {
    for (const [operation, run] of Object.entries(operations)) {
      const title = `Backplane, ${operation}, ${IN_FLIGHT} in flight`
      if (!title.includes(only)) continue
      log(title)
      const contestants = engines.map(engine => contestant(engine, run))
      const results = await compare(contestants, { rounds, seconds, alone })
      const workload = { name: operation, results, aims: [] }
      reports.push({ title, notes, workloads: [workload], text: list(workload) })
    }
  } finally {
    await close()
  }
  return reports
}

const notes = [
  'The CPU time is that of this process; Redis and NATS use their own in addition. SQLite does all its work in this process.',
  'All engines run on this machine. An engine that is not installed, or that this Node.js version does not have, is left out.',
]

/** Starts the engines; the name of each begins as those of this package do. */
async function start() {
  const { memory } = await ours('backplane/index')
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'))
  const engines = [{ name: 'trunkline, memory', backplane: memory() }]
  if (process.getBuiltinModule?.('node:sqlite') !== undefined) {
    const { sqlite } = await ours('backplane/sqlite/index')
    engines.push({ name: 'trunkline, sqlite', backplane: sqlite(join(folder, 'bench.db')) })
  }
  const server = redisProgram === undefined ? undefined : await redisServer()
  if (server !== undefined) {
    const { redis } = await ours('backplane/redis/index')
    engines.push({
      name: 'trunkline, redis',
      backplane: redis(`redis://127.0.0.1:${server.port}`),
    })
  }
  const streams = natsProgram === undefined ? undefined : await natsServer('max_payload: 9MB')
  if (streams !== undefined) {
    const { nats } = await ours('backplane/nats/index')
    engines.push({ name: 'trunkline, nats', backplane: nats(`nats://127.0.0.1:${streams.port}`) })
  }
  for (const { backplane } of engines) {
    await backplane.open()
    for (let at = 0; at < KEYS; at++) await backplane.store.put(`r${at}`, { value, ttlMs }, owner)
    await backplane.store.claim('owned', undefined, 'a', { value: 'v', ttlMs })
  }
  const close = async () => {
    for (const { backplane } of engines) await backplane.close()
    await server?.close()
    await streams?.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { engines, close }
}

function contestant({ name, backplane }, operation) {
  let at = 0
  return {
    name,
    open: () => backplane.open(),
    check: async () => {
      const { value: stored } = (await backplane.store.get('r1')) ?? {}
      if (stored !== value) throw new Error('the stored value is wrong')
    },
    cpu: () => {
      const { user, system } = process.cpuUsage()
      return user + system
    },
    run: async count => {
      for (let done = 0; done < count; done += IN_FLIGHT) {
        const size = Math.min(IN_FLIGHT, count - done)
        await Promise.all(Array.from({ length: size }, () => operation(backplane, at++)))
      }
    },
  }
}
