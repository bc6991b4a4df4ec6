import { bareObjects, trunkline } from './in-process.js'
import { collect } from './measure.js'
import { caller } from './peer.js'
import { rawClient } from './raw.js'
import { table } from './report.js'
import { openTcp } from './tcp.js'
import { lines } from './wire.js'

const calls = 1_000_000
const warmUp = 50_000
const inFlight = 64

const field = [
  ['bare objects, in process', () => inProcess(() => bareObjects(queueMicrotask))],
  ['trunkline, in process', () => inProcess(trunkline)],
  ['bare echo, TCP', () => overTcp('bare', 'tcp', 'joined')],
  ['trunkline, TCP', () => overTcp('trunkline', 'tcp')],
]

/** Measures whether the heap grows over a million calls. */
export async function growth({ log }) {
  const results = []
  for (const [name, measure] of field) {
    log(`memory: a million calls, ${name}`)
    try {
      results.push({ name, ...(await measure()) })
    } catch (error) {
      results.push({ name, failed: error.message })
    }
  }
  return {
    title: 'heap before and after a million calls',
    notes: [
      `After a full garbage collection, with ${warmUp} calls before the first measurement; over TCP the heap of the server.`,
    ],
    workloads: [{ name: 'a million calls', calls, results }],
    text: table(['', 'before, KiB', 'after, KiB', 'bytes per call'], results.map(row)),
  }
}

function row({ name, failed, before, after }) {
  if (failed !== undefined) return [name, 'failed', '', '']
  return [name, kib(before), kib(after), ((after - before) / calls).toFixed(3)]
}

const kib = size => (size / 1024).toFixed(0)

async function inProcess(open) {
  const contestant = caller('', open, inFlight)
  await contestant.open()
  const look = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  return around(contestant, look)
}

async function overTcp(...program) {
  let link
  const open = async () => {
    link = await openTcp(lines, ...program)
    return link
  }
  const contestant = rawClient('', open, inFlight)
  await contestant.open()
  const params = { collect: true }
  const look = async () => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 'usage', method: 'usage', params })
    return JSON.parse(await Promise.race([link.ask(text), link.broken])).result.heapUsed
  }
  return around(contestant, look)
}

async function around(contestant, look) {
  try {
    await contestant.run(warmUp)
    await look()
    const before = await look()
    await contestant.run(calls)
    await look()
    return { before, after: await look() }
  } finally {
    await contestant.close()
  }
}
