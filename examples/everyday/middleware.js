// @ts-check
// Tool calls that are logged, cached and limited.

import assert from 'node:assert/strict'
import { connect, Server } from 'trunkline'
import { cacheResults, logCalls, rateLimit } from 'trunkline/middleware'
import * as z from 'zod'

const server = new Server({ name: 'search', version: '1.0.0' })
/** @type {import('trunkline/middleware').LoggedCall[]} */
const calls = []
let searches = 0

// ---- the task
server.use(rateLimit({ methods: { 'tools/call': { perSecond: 1, burst: 3 } } }))
server.around(
  'tools/call',
  logCalls(call => calls.push(call)),
)
server.around('tools/call', cacheResults({ tools: ['search'], ttlMs: 60_000 }))
// ---- the check

server.tool(
  'search',
  { input: z.object({ word: z.string() }) },
  ({ word }) => `${word} ${++searches}`,
)
const client = await connect(server)
assert.equal((await client.call('search', { word: 'a' })).text, 'a 1')
assert.equal((await client.call('search', { word: 'a' })).text, 'a 1')
assert.equal((await client.call('search', { word: 'b' })).text, 'b 2')
await assert.rejects(client.call('search', { word: 'c' }), { kind: 'rate_limited' })
const lines = calls.map(({ tool, outcome }) => `${tool}: ${outcome}`)
assert.deepEqual(lines, ['search: ok', 'search: ok', 'search: ok'])
console.log(lines.join(', '))
await client.close()
