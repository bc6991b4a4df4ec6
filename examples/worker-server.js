// A slow server that returns its process id. examples/router-balance.js and examples/router-config.js
// start it.

import { setTimeout as sleep } from 'node:timers/promises'
import { Server, serve } from 'trunkline'

const server = new Server({ name: 'worker', version: '1.0.0' })

async function take(ctx) {
  ctx.progress(0, 1, `${process.pid} has started`)
  await sleep(100, undefined, { signal: ctx.signal })
  return String(process.pid)
}

// Has no side effects and declares that, so a router may retry it.
server.tool('look', { annotations: { readOnlyHint: true } }, (_, ctx) => take(ctx))
server.tool('work', {}, (_, ctx) => take(ctx))
await serve(server)
