// Serves over HTTP until its input ends; prints the address, and how much memory it uses.

import { listen, Server } from '../../dist/index.js'

const server = new Server({ name: 'flooded', version: '1' })
const input = { type: 'object', properties: { word: { type: 'string' } } }
server.tool('echo', { input }, ({ word }) => word)
server.tool('steps', {}, async (_, ctx) => {
  for (let step = 1; step <= 5; step++) {
    ctx.progress(step, 5)
    ctx.log('info', { step })
    await new Promise(resolve => setImmediate(resolve))
  }
  server.tool(`made-${Math.random()}`, {}, () => '').remove()
  return 'done'
})
server.tool('memory', {}, () => {
  // Buffers are freed in the background; the second collection waits for those of the first.
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  const peak = process.resourceUsage().maxRSS * 1024
  return JSON.stringify({ held: heapUsed + arrayBuffers, peak })
})
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, error => {
    console.error(event, error)
    process.exit(1)
  })
}
// On a busy machine a request may take longer than the limits allow.
const patient = { idleTimeoutMs: 600_000, requestTimeoutMs: 600_000, headersTimeoutMs: 600_000 }
const listener = await listen(server, 'http://127.0.0.1:0/mcp', { http: patient })
console.log(listener.address)
process.stdin.on('end', () => listener.close()).resume()
