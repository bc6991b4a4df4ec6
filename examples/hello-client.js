// Starts examples/hello-server.js and calls its tool.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { connect } from 'trunkline'

const program = fileURLToPath(new URL('hello-server.js', import.meta.url))
const client = await connect({ command: process.execPath, args: [program] })

const answer = await client.call('greet', { name: 'Ada' })
assert.equal(answer.text, 'Hello, Ada!')
console.log(`${client.server.name} says: ${answer.text}`)

// Ends the input of the child process and waits for it to exit.
await client.close()
