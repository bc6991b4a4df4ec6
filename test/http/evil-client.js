// Calls a server that never ends what it says, once for each way of doing so; reports how each call ended, and
// how much memory it took.

import { connect } from '../../dist/index.js'

const [address, options, ...ways] = process.argv.slice(2)

function held() {
  // Buffers are freed in the background; the second collection waits for the first one's.
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const client = await connect(address, {
  ...JSON.parse(options),
  onError: () => {},
})
// Whatever is loaded and compiled the first time is there before anything is measured.
await client.call('good')
for (const way of ways) {
  const before = held()
  const peak = process.resourceUsage().maxRSS
  const outcome = await client
    .call(way, {}, { timeoutMs: way === 'endless comments' ? 500 : 0 })
    .then(
      ({ text }) => text,
      error => `${error.code}: ${error.message}`,
    )
  const after = held()
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
