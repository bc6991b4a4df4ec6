// @ts-check
// A server that shows the features of another one, with a prefix.

import assert from 'node:assert/strict'
import { connect, Server } from 'trunkline'

const clock = new Server({ name: 'clock', version: '1.0.0' })
clock.tool('now', {}, (_, { caller }) => `12:00 for ${caller.principal?.id}`)
clock.resource('zone', 'clock://zone', {}, () => 'UTC')
const server = new Server({ name: 'desk', version: '1.0.0' })

// ---- the task
server.mount(clock, { prefix: 'clock__' })
// ---- the check

const client = await connect(server, { principal: { id: 'ada' } })
assert.equal((await client.call('clock__now')).text, '12:00 for ada')
assert.equal((await client.read('clock://zone')).text, 'UTC')
// What the other server registers later is shown too.
clock.tool('tick', {}, () => 'tick')
const tools = []
for await (const tool of client.tools()) tools.push(tool.name)
assert.deepEqual(tools, ['clock__now', 'clock__tick'])
console.log(tools.join(', '))
await client.close()
