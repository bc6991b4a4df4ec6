// Calls a server whose responses never end, once for each kind of stream; reports how each call ended, and
// how much memory it used.

import { connect } from '../../dist/index.js'

const [address, options, ...ways] = process.argv.slice(2)

/** What stays in memory: the least of several turns, because a connection that was just given up still closes. */
async function held() {
  let least = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 5; turn++) {
    // Buffers are freed in the background; the second collection waits for those of the first.
    globalThis.gc()
    globalThis.gc()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    least = Math.min(least, heapUsed + arrayBuffers)
    await new Promise(resolve => setImmediate(resolve))
  }
  return least
}

const client = await connect(address, {
  ...JSON.parse(options),
  onError: () => {},
})
// Code that is loaded and compiled on first use is in memory before the measurements.
await client.call('good')
for (const way of ways) {
  const before = await held()
  const peak = process.resourceUsage().maxRSS
  const outcome = await client
    .call(way, {}, { timeoutMs: way === 'endless comments' ? 500 : 0 })
    .then(
      ({ text }) => text,
      error => `${error.code}: ${error.message}`,
    )
  const after = await held()
  const report = {
    way,
    outcome: outcome.slice(0, 300),
    held: after - before,
    peak: (process.resourceUsage().maxRSS - peak) * 1024,
  }
  console.log(JSON.stringify(report))
}
const { text } = await client.call('good')
console.log(JSON.stringify({ way: 'good', outcome: text, held: 0, peak: 0 }))
await client.close()
