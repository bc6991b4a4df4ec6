import { rmSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { startBare } from './bare.js'
import { folder } from './install.js'
import { eras, startRouter, toolsOf } from './router.js'

const cache = join(folder, 'lists.json')

/**
 * Measures starts, lists and memory. The bare start of all programs and the start of a router with them
 * alternate, because the load of a machine changes. After each start of a router follows one with the lists
 * that it has remembered.
 */
export async function measure(file, commands, rounds = 3) {
  const runs = []
  for (let round = 0; round < rounds; round++) {
    const load = loadavg()[0]
    const bare = await startBare(commands)
    const cold = await coldStart(file, round === rounds - 1)
    const warm = await warmStart(file, Object.keys(eras)[round % 2])
    runs.push({ load, bareMs: bare.ms, bareFailed: bare.failed, cold, warm })
    console.error(JSON.stringify(runs.at(-1)))
  }
  return runs
}

/** Starts a router that remembers nothing, and measures the time to a complete list, and memory. */
async function coldStart(file, hasCalls) {
  rmSync(cache, { force: true })
  const router = await startRouter(file, cache)
  try {
    return await router.client('stateless', async client => {
      const tools = await toolsOf(client)
      const ms = performance.now() - router.begin
      const listedMb = router.memory()
      const lists = {}
      for (const era of Object.keys(eras)) {
        lists[era] = await router.client(era, async other => (await timed(() => toolsOf(other))).ms)
      }
      const { level, servers } = await router.status()
      const missing = servers.filter(server => server.level === 'down').map(({ name }) => name)
      const sizes = { tools: tools.length, bytes: JSON.stringify(tools).length }
      const calls = hasCalls ? await manyCalls(client) : undefined
      return { ms, ...sizes, lists, level, missing, listedMb, calls, calledMb: router.memory() }
    })
  } finally {
    await router.end()
  }
}

/** Starts a router that remembers, and lists as soon as it accepts connections. */
async function warmStart(file, era) {
  const router = await startRouter(file, cache)
  try {
    const listed = await timed(() => router.client(era, toolsOf))
    const startMs = router.acceptedAt - router.begin
    return {
      era,
      startMs,
      listMs: listed.ms,
      tools: listed.value.length,
      listedMb: router.memory(),
    }
  } finally {
    await router.end()
  }
}

/** Makes 10 000 calls, 16 at a time. Resolves to the calls per second. */
async function manyCalls(client, count = 10_000) {
  let left = count
  const worker = async () => {
    while (left-- > 0) await client.call('everything__echo', { message: 'hi' })
  }
  const { ms } = await timed(() => Promise.all(Array.from({ length: 16 }, worker)))
  return { count, perSecond: (count / ms) * 1000 }
}

async function timed(run) {
  const begin = performance.now()
  const value = await run()
  return { ms: performance.now() - begin, value }
}
