// A node of a cluster: node cluster-node.js ENGINE LEDGER. Prints its address. Its tools write what they do to the ledger.

import { appendFileSync } from 'node:fs'
import { listen, Server } from 'trunkline'
import { redis } from 'trunkline/redis'

const [engine = '', ledger = ''] = process.argv.slice(2)
const backplane = redis(engine)
const server = new Server({ name: 'node', version: '1' }, { onError: () => {} })
const id = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }

server.tool('write', { input: id }, ({ id }) => {
  appendFileSync(ledger, `${id}\n`)
  return id
})
server.tool('held', { input: id }, async ({ id }) => {
  appendFileSync(ledger, `${id}\n`)
  await new Promise(() => {})
})
server.tool('steps', { input: id }, async ({ id }, ctx) => {
  await ctx.progress(1, 2)
  appendFileSync(ledger, `${id}\n`)
  await new Promise(() => {})
})
server.tool('pid', {}, () => String(process.pid))
server.tool('change', {}, () => {
  server.tool(`tool-${process.hrtime.bigint()}`, {}, () => 'new')
  return 'changed'
})

const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
  backplane,
  cluster: { leaseMs: Number(process.env.LEASE_MS ?? 3000), heartbeatMs: 250 },
})
process.on('SIGTERM', async () => {
  await listener.close()
  await backplane.close()
  process.exit(0)
})
console.log(listener.address)
