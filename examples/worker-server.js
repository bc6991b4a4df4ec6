// A server that is slow on purpose, and says which process it is. examples/router-balance.js and
// examples/router-config.js start it.

import { setTimeout as sleep } from 'node:timers/promises'
import { Server, serve } from 'trunkline'

const server = new Server({ name: 'worker', version: '1.0.0' })

async function take(ctx) {
  ctx.progress(0, 1, `${process.pid} has begun`)
  await sleep(100, undefined, { signal: ctx.signal })
  return String(process.pid)
}

// Changes nothing, and says so: whoever calls it may call it again.
server.tool('look', { annotations: { readOnlyHint: true } }, (_, ctx) => take(ctx))
server.tool('work', {}, (_, ctx) => take(ctx))
await serve(server)
