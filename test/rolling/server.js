// A plain server for the rolling restarts: `node server.js PORT`. Its tool takes a moment, so that calls are
// in flight whenever it is stopped.
import { setTimeout as pause } from 'node:timers/promises'
import { Server, serve } from 'trunkline'
import { Ops } from 'trunkline/observe'

const server = new Server({ name: 'rolled', version: '1' })
server.tool('work', { description: 'Takes a moment.' }, async () => {
  await pause(Math.random() * 40)
  return String(process.pid)
})
await serve(server, {
  addresses: [`http://127.0.0.1:${process.argv[2]}/mcp`],
  allowedHosts: ['rolled'],
  ops: new Ops({ allowedHosts: ['rolled'] }),
  lameDuckMs: 1000,
})
