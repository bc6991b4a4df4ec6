import assert from 'node:assert/strict'
import { connectionsAllowed, crowd } from './http-crowd.js'
import { compare } from './measure.js'
import { aim, table } from './report.js'

const WANTED = 1000

/** Contestants: the name of the row, the era of the clients, and the program. */
export const crowds = [
  ['node:http', 'bare', ['crowd-bare']],
  ['trunkline', 'stateless', ['crowd-trunkline']],
  ['trunkline, session', 'session', ['crowd-trunkline']],
  ['SDK 1.32', 'session', ['crowd-sdk1']],
  ['SDK 2.4', 'stateless', ['crowd-sdk2', 'stateless']],
  ['SDK 2.4, session', 'session', ['crowd-sdk2', 'session']],
]

/** Measures how long a change notification takes to reach the last of many clients. */
export async function fanout({ rounds, seconds = 0.3, only, alone, log }) {
  // All contestants run at the same time, and this process holds the clients of all of them.
  const clients = Math.floor(connectionsAllowed(WANTED * crowds.length) / crowds.length)
  const title = `MCP over HTTP, ${clients} clients notified of a change`
  if (!title.includes(only)) return []
  log(title)
  const contestants = crowds.map(([name, era, program]) => contestant(name, era, program, clients))
  const results = await compare(contestants, { rounds, seconds, alone })
  const aims = [
    aim(results, { than: 'SDK 1.32', least: 3 }),
    aim(results, { who: 'trunkline, session', than: 'SDK 1.32', least: 3 }),
    processorAim(results, 'trunkline'),
    processorAim(results, 'trunkline, session'),
  ]
  const workload = { name: 'fan-out', clients, results, aims }
  return [{ title, notes, workloads: [workload], text: listed(results) }]
}

const notes = [
  'A tool is removed or restored, and every client receives a list change notification: on the stream of its',
  '`subscriptions/listen` or, for "session", on the stream that it opened with GET. The time runs from the command to make',
  'the change until the last client has the notification. Server and clients are separate processes; the clients are raw',
  'sockets that look for the name of the notification. The official packages need a server object for each session. The floor',
  'writes one text to all. Reading takes the clients about as long as writing takes the floor, so no server can be much faster.',
]

/** Target for the CPU time of the server, which does not depend on the clients: at most a third of SDK 1.32. */
function processorAim(results, who) {
  const own = results.find(({ name }) => name === who)?.cpuMicros
  const other = results.find(({ name }) => name === 'SDK 1.32')
  if (other === undefined) return undefined
  const what = '≤ 1/3 of the CPU time of SDK 1.32'
  if (own === undefined || other.cpuMicros === undefined) return { who, what, isReached: false }
  const { median, min, max } = other.cpuMicros
  const ratio = { median: own.median / median, min: own.min / max, max: own.max / min }
  return { who, what, ratio, isReached: ratio.median <= 1 / 3 }
}

function contestant(name, era, program, clients) {
  let place
  return {
    name,
    async open() {
      place = await crowd(program, era)
      await place.openStreams(clients)
    },
    async check() {
      const recorded = place.record()
      await place.change()
      await place.change()
      const received = [...recorded().matchAll(/^data: (.+?)\r?$/gm)].map(([, data]) =>
        JSON.parse(data),
      )
      assert.deepEqual(
        received.map(({ method }) => method),
        Array(2).fill('notifications/tools/list_changed'),
      )
    },
    async run(count) {
      let seconds = 0
      for (let change = 0; change < count; change++) seconds += await place.change()
      return seconds
    },
    cpu: async () => (await place.usage()).cpuMicros,
    close: () => place?.close(),
  }
}

function listed(results) {
  const ms = rate => (1000 / rate).toFixed(1)
  const rows = results.map(({ name, failed, perSecond, ratio, cpuMicros }) => {
    if (failed !== undefined) return [name, 'failed', '', '', '']
    return [
      name,
      ms(perSecond.median),
      `${ms(perSecond.max)}–${ms(perSecond.min)}`,
      (1 / ratio.median).toFixed(2),
      (cpuMicros.median / 1000).toFixed(1),
    ]
  })
  return table(['server', 'ms', 'spread', 'time × floor', 'CPU ms per change'], rows)
}
