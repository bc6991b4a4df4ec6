// Serves over HTTP, TCP and WebSocket with default options until its input ends. Prints the ports, and a reply to
// each line of input: to `calls` the number of calls so far, to `settle` the same once it has nothing more to do,
// and to `cost` how much memory it uses and for how long its event loop was busy at most.

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { listen, Server } from '../../dist/index.js'

const server = new Server({ name: 'attacked', version: '1' }, { onError: () => {} })
// Not `repeat`, whose result takes its memory only when it is first used.
const long = Buffer.alloc(8 * 1024 * 1024, 'x').toString('latin1')
let calls = 0
const any = { type: 'object' }
server.tool('long', {}, () => {
  calls++
  return long
})
// A call that lasts as long as its caller wants.
server.tool('slow', { input: any }, (_, { signal }) => {
  calls++
  return new Promise(resolve => signal.addEventListener('abort', resolve))
})
server.tool('task', { input: any, task: 'required' }, args => {
  calls++
  return JSON.stringify(args)
})
server.tool('stream', { input: any }, (args, ctx) => {
  calls++
  ctx.progress(1, 2)
  return JSON.stringify(args)
})
server.resourceTemplate('any', 'any:///{+path}', {}, ({ path }) => path)
const onError = () => {}
const addresses = ['http://127.0.0.1:0/mcp', 'tcp://127.0.0.1:0']
const listeners = await Promise.all(addresses.map(address => listen(server, address, { onError })))
console.log(JSON.stringify(listeners.map(({ address }) => Number(/:(\d+)/.exec(address)[1]))))
let peakBytes = 0
let blockedMs = 0
let usedMs = 0
// The CPU time between two turns of the event loop, which does not depend on how busy the machine is. On
// Linux it is that of the main thread alone; elsewhere it includes the threads that collect garbage.
const schedule = `/proc/self/task/${process.pid}/schedstat`
const cpuMs = () => {
  try {
    return Number.parseInt(readFileSync(schedule, 'latin1'), 10) / 1e6
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
}
// Not the peak that the system knows, which a process inherits from its parent.
const sample = () => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  const nowMs = cpuMs()
  blockedMs = Math.max(blockedMs, nowMs - usedMs)
  usedMs = nowMs
}
// What a fixed amount of work takes, to compare with on a machine of any speed.
const reference = `[${'{"name":"value","list":[1,2,3]},'.repeat(200_000)}0]`
JSON.parse(reference)
const beforeMs = cpuMs()
JSON.parse(reference)
const referenceMs = cpuMs() - beforeMs
sample()
setInterval(sample, 2)
blockedMs = 0

// It has nothing more to do if it waits for events at each of many turns.
async function settle() {
  for (let idleTurns = 0; idleTurns < 50; ) {
    const before = performance.eventLoopUtilization()
    await new Promise(resolve => setTimeout(resolve, 2))
    const { idle, active } = performance.eventLoopUtilization(before)
    idleTurns = idle > active ? idleTurns + 1 : 0
  }
}

function cost() {
  sample()
  const state = { peakBytes, blockedMs, referenceMs }
  // Buffers are freed in the background; the second collection waits for those of the first.
  globalThis.gc()
  globalThis.gc()
  const { rss, heapUsed, external } = process.memoryUsage()
  // The collection above is no part of an attack.
  const before = blockedMs
  sample()
  blockedMs = before
  return { ...state, bytes: rss, heldBytes: heapUsed + external }
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'settle') await settle()
  console.log(JSON.stringify(line === 'cost' ? cost() : { calls }))
}
process.exit(0)
