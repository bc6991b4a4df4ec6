import { start as spawnServer, stop } from '../child.js'
import { spread } from '../measure.js'
import { streamLink } from '../raw.js'
import { table } from '../report.js'
import { lines } from '../wire.js'
import { opening, request } from './wire.js'

const field = [
  ['bare loop', 'session', ['hello-bare']],
  ['bare loop + Zod', 'session', ['hello-bare', 'zod']],
  ['trunkline', 'stateless', ['hello-trunkline']],
  ['trunkline, session', 'session', ['hello-trunkline']],
  ['trunkline, JSON Schema', 'stateless', ['hello-trunkline', 'plain']],
  ['SDK 1.32', 'session', ['hello-sdk1']],
  ['SDK 2.4', 'stateless', ['hello-sdk2']],
  ['SDK 2.4, session', 'session', ['hello-sdk2']],
]

/** Measures the time from starting a server with one tool to its first responses, and its memory then. */
export async function start({ rounds, only, alone, log }) {
  const title = 'MCP server, from start to first response'
  if (!title.includes(only) || process.env.BENCH_AGAINST !== undefined) return []
  const racers = field
    .filter(([name], at) => !alone || at < 2 || name.startsWith('trunkline'))
    .map(([name, era, program]) => ({ name, era, program, rates: [], rss: [] }))
  for (let round = 0; round < rounds; round++) {
    log(`${title}: ${round + 1} of ${rounds}`)
    for (let turn = 0; turn < racers.length; turn++) {
      const racer = racers[(round + turn) % racers.length]
      if (racer.failed === undefined) await attempt(racer)
    }
  }
  const results = racers.map(summarise)
  const aims = [
    ownTimeAim(results, 'trunkline, JSON Schema', 'bare loop', 'Node'),
    ownTimeAim(results, 'trunkline', 'bare loop + Zod', 'Node and Zod'),
    memoryAim(results),
  ]
  const workload = { name: 'start', results, aims }
  const notes = [
    'A hello-world server with one tool and a Zod schema is started and at once receives the handshake (`server/discover`,',
    'or `initialize` and `notifications/initialized`) and `tools/list`. The time runs until the last response and includes the',
    'start of Node.js. Then the tool is called, which returns the resident memory of its process. Node.js takes the same time',
    'everywhere, so the time above the "bare loop" is compared: once without a schema library, which ours does not need, and',
    'once with Zod everywhere, above "bare loop + Zod".',
  ]
  return [{ title, notes, workloads: [workload], text: text(results) }]
}

async function attempt(racer) {
  try {
    const { seconds, rss } = await once(racer)
    racer.rates.push(1 / seconds)
    racer.rss.push(rss)
  } catch (error) {
    racer.failed = error.message
  }
}

async function once({ era, program }) {
  const { request: first, notifications } = opening(era)
  const texts = [first, ...notifications, request(era, 'list', 'tools/list', {})]
  const call = request(era, 'rss', 'tools/call', { name: 'hello', arguments: { who: 'you' } })
  const from = performance.now()
  const child = spawnServer(...program)
  const close = () => stop(child)
  const link = streamLink({ input: child.stdout, output: child.stdin, wire: lines, close })
  link.broken.catch(() => {})
  try {
    const replies = await Promise.race([link.askAll(texts, 2), link.broken])
    const seconds = (performance.now() - from) / 1000
    const listed = replies.map(text => JSON.parse(text)).find(({ id }) => id === 'list')
    if (listed?.result?.tools?.[0]?.name !== 'hello') throw new Error('the tool is not listed')
    const reply = JSON.parse(await Promise.race([link.ask(call), link.broken]))
    return { seconds, rss: Number(reply.result.content[0].text) }
  } finally {
    await close()
  }
}

function summarise({ name, rates, rss, failed }, _, [floor]) {
  if (failed !== undefined) return { name, failed }
  const ratio = spread(rates.map((rate, round) => rate / (floor.rates[round] ?? Number.NaN)))
  return { name, rates, perSecond: spread(rates), ratio, rss: spread(rss) }
}

/** Target for the time above the floor: at most a third of that of SDK 2.4. */
function ownTimeAim(results, ours, below, words) {
  const own = results.find(({ name }) => name === ours)
  const other = results.find(({ name }) => name === 'SDK 2.4')
  const floor = results.find(({ name }) => name === below)
  if (other === undefined) return undefined
  const what = `≤ 1/3 of the time of SDK 2.4 (${ours}; ${words} not counted)`
  if ([own, other, floor].some(one => one?.rates === undefined)) return { what, isReached: false }
  const above = ({ rates }, round) => 1 / rates[round] - 1 / floor.rates[round]
  const ratio = spread(own.rates.map((_, round) => above(own, round) / above(other, round)))
  return { what, ratio, isReached: ratio.median <= 1 / 3 }
}

function memoryAim(results) {
  const own = results.find(({ name }) => name === 'trunkline')
  const other = results.find(({ name }) => name === 'SDK 2.4')
  if (other === undefined) return undefined
  const what = 'less resident memory than SDK 2.4'
  if (own?.rss === undefined || other.rss === undefined) return { what, isReached: false }
  const ratio = own.rss.median / other.rss.median
  return {
    what,
    ratio: { median: ratio, min: own.rss.min / other.rss.max, max: own.rss.max / other.rss.min },
    isReached: ratio < 1,
  }
}

function text(results) {
  const ms = rate => (1000 / rate).toFixed(0)
  const mib = bytes => (bytes / 2 ** 20).toFixed(1)
  const rows = results.map(({ name, failed, perSecond, ratio, rss }) => {
    if (failed !== undefined) return [name, 'failed', '', '', '']
    return [
      name,
      ms(perSecond.median),
      `${ms(perSecond.max)}–${ms(perSecond.min)}`,
      `${(1 / ratio.median).toFixed(2)}`,
      mib(rss.median),
    ]
  })
  return table(['server', 'ms', 'spread', 'time × floor', 'RSS, MiB'], rows)
}
