import { once } from 'node:events'
import { connect } from 'node:net'
import { startListening, stop } from './child.js'
import { request, streamLink } from './raw.js'
import { table } from './report.js'
import { lines } from './wire.js'

const wanted = 10_000
/** File descriptors that a process needs besides its connections. */
const spare = 200

const field = [
  ['bare net server', ['bare', 'tcp', 'joined']],
  ['trunkline', ['trunkline', 'tcp']],
]

/**
 * Measures the memory of many idle connections to one process: new, after one call, and what remains
 * when all are closed.
 */
export async function idle({ log }) {
  const count = connectionsAllowed()
  const results = []
  for (const [name, program] of field) {
    log(`memory: ${count} idle connections, ${name}`)
    try {
      results.push({ name, ...(await measure(program, count)) })
    } catch (error) {
      results.push({ name, failed: error.message })
    }
  }
  return {
    title: `memory of ${count} idle TCP connections to one process`,
    notes: [
      'Bytes per connection in the server after a full garbage collection, resident and heap. Kernel buffers are not included.',
    ],
    workloads: [{ name: 'idle connections', connections: count, results }],
    text: table(
      ['server', 'new: RSS', 'heap', 'after a call: RSS', 'heap', 'all closed: heap left, bytes'],
      results.map(row),
    ),
  }
}

function row({ name, failed, fresh, used, left }) {
  if (failed !== undefined) return [name, 'failed', '', '', '', '']
  return [name, fresh.rss, fresh.heap, used.rss, used.heap, left]
}

/** Returns the wanted number of connections, or fewer if the limit on open files requires it. */
function connectionsAllowed() {
  const limit = process.report.getReport().userLimits?.open_files?.soft
  if (typeof limit !== 'number' || limit >= wanted + spare) return wanted
  const count = limit - spare
  if (count < 100) {
    throw new Error(
      `only ${limit} open files are allowed; raise the limit, for example with "ulimit -n 20000"`,
    )
  }
  console.error(`Only ${limit} open files are allowed: measuring ${count} connections.`)
  return count
}

async function measure(program, count) {
  const { child, port } = await startListening(...program)
  try {
    // The connection that queries usage is opened, and has made a call, before the measurement.
    const control = await open(port)
    await usage(control)
    const before = await usage(control)
    const links = []
    while (links.length < count - 1) {
      const number = Math.min(200, count - 1 - links.length)
      links.push(...(await Promise.all(Array.from({ length: number }, () => open(port)))))
    }
    const fresh = each(before, await usage(control), links.length)
    await Promise.all(links.map((link, id) => ask(link, request(id))))
    const used = each(before, await usage(control), links.length)
    await Promise.all(links.map(link => link.close()))
    const left = await settled(control)
    return { fresh, used, left: left - before.heapUsed }
  } finally {
    await stop(child)
  }
}

async function open(port) {
  const socket = connect({ port, host: '127.0.0.1' })
  const close = async () => {
    const closed = once(socket, 'close')
    socket.end()
    await closed
  }
  const link = streamLink({ input: socket, output: socket, wire: lines, close })
  link.broken.catch(() => {})
  await Promise.race([once(socket, 'connect'), link.broken])
  return link
}

const ask = (link, text) => Promise.race([link.ask(text), link.broken])

async function usage(link) {
  const params = { collect: true }
  const reply = await ask(
    link,
    JSON.stringify({ jsonrpc: '2.0', id: 'usage', method: 'usage', params }),
  )
  return JSON.parse(reply).result
}

function each(before, after, count) {
  const held = ({ heapUsed, external }) => heapUsed + external
  return {
    rss: Math.round((after.rss - before.rss) / count),
    heap: Math.round((held(after) - held(before)) / count),
  }
}

/** Waits until the heap stops shrinking, because a server may still be closing connections, and returns it. */
async function settled(control) {
  let heap = (await usage(control)).heapUsed
  for (let look = 0; look < 20; look++) {
    const { heapUsed } = await usage(control)
    if (heapUsed >= heap) return heap
    heap = heapUsed
  }
  return heap
}
