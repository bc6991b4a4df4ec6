import { connectionsAllowed, crowd } from './http-crowd.js'
import { crowds } from './http-fanout.js'
import { table } from './report.js'

const SESSIONS = 5000
const STREAMS = 10_000
/** Clients opened before the measurement, because the first ones allocate what all share. */
const FIRST = 500

/** Measures the memory of idle clients: with a session only, and with an open stream. */
export async function httpMemory(options) {
  return [...(await idleSessions(options)), ...(await idleStreams(options))]
}

async function idleSessions({ only, alone, log }) {
  const title = `memory of ${SESSIONS} idle sessions over HTTP`
  const field = crowds.filter(([, era]) => era === 'session')
  const notes = [
    'Bytes per session in the server after a full garbage collection, resident and heap: initialized, no stream, nothing in',
    'flight. The official packages need a server object with its tools for each session. A stateless client needs no memory.',
  ]
  return measured({ title, notes, field, only, alone, log, aims }, async place => {
    await place.openSessions(FIRST)
    const before = await place.collected()
    await place.openSessions(SESSIONS)
    return { count: SESSIONS, ...each(before, await place.collected(), SESSIONS) }
  })
}

async function idleStreams({ only, alone, log }) {
  const count = connectionsAllowed(STREAMS + FIRST) - FIRST
  const title = `memory of ${count} idle event streams of one process`
  const notes = [
    'Bytes per stream in the server after a full garbage collection, resident and heap, including the connection: streams of',
    '`subscriptions/listen` or, for "session", opened with GET in one session each. Kernel buffers are not included.',
  ]
  return measured({ title, notes, field: crowds, only, alone, log }, async place => {
    await place.openStreams(FIRST)
    const before = await place.collected()
    await place.openStreams(count)
    return { count, ...each(before, await place.collected(), count) }
  })
}

async function measured({ title, notes, field, only, alone, log, aims: aimsOf }, measure) {
  if (!title.includes(only)) return []
  const results = []
  for (const [name, era, program] of field) {
    if (alone && name.startsWith('SDK')) continue
    log(`${title}, ${name}`)
    let place
    try {
      place = await crowd(program, era)
      results.push({ name, ...(await measure(place)) })
    } catch (error) {
      results.push({ name, failed: error.message })
    } finally {
      await place?.close()
    }
  }
  const rows = results.map(({ name, failed, rss, heap }) =>
    failed === undefined ? [name, rss, heap] : [name, 'failed', ''],
  )
  const workload = { name: title, results, aims: aimsOf?.(results) }
  return [{ title, notes, workloads: [workload], text: table(['server', 'RSS', 'heap'], rows) }]
}

/** Targets: at most a quarter of the heap and resident memory of SDK 1.32. */
function aims(results) {
  const own = results.find(({ name }) => name === 'trunkline, session')
  const other = results.find(({ name }) => name === 'SDK 1.32')
  if (other === undefined) return []
  return ['heap', 'rss'].map(kind => {
    const what = `≤ 1/4 of the ${kind === 'rss' ? 'resident memory' : 'heap'} of SDK 1.32`
    const share = own?.[kind] / other[kind]
    const ratio = { median: share, min: share, max: share }
    return { who: 'trunkline, session', what, ratio, isReached: share <= 1 / 4 }
  })
}

function each(before, after, count) {
  const held = ({ heapUsed, external }) => heapUsed + external
  return {
    rss: Math.round((after.rss - before.rss) / count),
    heap: Math.round((held(after) - held(before)) / count),
  }
}
