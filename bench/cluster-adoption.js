import { once } from 'node:events'
import { startListening, stop } from './child.js'
import { openLink, openSession, writer } from './http-client.js'
import { request } from './mcp/wire.js'
import { table } from './report.js'

const CONNECTIONS = 64

/**
 * Kills the node that owns many sessions, and calls each of them at another node until all have responded. `address`
 * is that of the engine, and `counter` a connection to it.
 */
export async function adoption(address, counter, sessions) {
  const nodes = []
  for (let at = 0; at < 3; at++) nodes.push(await startListening('cluster-trunkline', address))
  const [owner, edge] = nodes
  try {
    const opened = await inTurns(owner.port, sessions, link => openSession(owner.port, link))
    const engineBefore = await engineCpu(counter)
    const killed = performance.now()
    const gone = once(owner.child, 'exit')
    owner.child.kill('SIGKILL')
    await gone
    const times = []
    await inTurns(edge.port, sessions, async (link, at) => {
      const post = writer(edge.port, 'session', 'application/json, text/event-stream', opened[at])
      const reply = await link.ask(post(request('session', at, 'ping')))
      if (!/^HTTP\/1.1 200 /.test(reply)) throw new Error(reply)
      times.push(performance.now() - killed)
    })
    const engine = (await engineCpu(counter)) - engineBefore
    const rows = [
      ['sessions', String(sessions)],
      ['first response, s after the kill', (Math.min(...times) / 1000).toFixed(2)],
      ['last response, s after the kill', (Math.max(...times) / 1000).toFixed(2)],
      ['CPU of the engine, s', engine.toFixed(2)],
    ]
    return table(['', ''], rows)
  } finally {
    await Promise.all(nodes.map(({ child }) => stop(child)))
  }
}

/** Runs an operation for each number, on a few connections. */
async function inTurns(port, count, operation) {
  const results = []
  let next = 0
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const link = await openLink(port)
      while (next < count) {
        const at = next++
        results[at] = await operation(link, at)
      }
      link.close()
    }),
  )
  return results
}

async function engineCpu(counter) {
  const text = await counter.info('cpu')
  const used = ['used_cpu_sys', 'used_cpu_user'].map(name =>
    Number(new RegExp(`${name}:([\\d.]+)`).exec(text)?.[1] ?? 0),
  )
  return used[0] + used[1]
}
