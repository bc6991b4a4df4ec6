// @ts-check
// A call that continues in the background, and a client that follows it.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, Server } from 'trunkline'

const server = new Server({ name: 'press', version: '1.0.0' }, { tasks: { pollMs: 100 } })

/** @type {string[]} */
const seen = []

// ---- the task
server.tool('print', { task: 'optional' }, (_, { signal }) => sleep(20, 'Printed', { signal }))

const client = await connect(server)
const task = await client.start('print')
for await (const { status } of task.updates) seen.push(status)
const answer = await task.result()
// ---- the check

assert.equal(answer.text, 'Printed')
assert.equal(seen.at(-1), 'completed')
console.log(`${seen.join(', ')}: ${answer.text}`)
await client.close()
