// A TCP server and a client. Port 0 selects a free port; `listener.address` has it.

import assert from 'node:assert/strict'
import { connect, listen } from 'trunkline'

const methods = {
  add: (a, b) => a + b,
  greet: ({ name }) => `Hello, ${name}`,
}

// Without a host, or with localhost, only this machine can connect.
const listener = await listen(methods, 'tcp://localhost:0', { protocol: 'jsonrpc' })
console.log(`listening on ${listener.address}`)

const peer = await connect(listener.address, { protocol: 'jsonrpc', timeoutMs: 5000 })
assert.equal(await peer.call('add', [2, 3]), 5)
assert.equal(await peer.call('greet', { name: 'Ada' }), 'Hello, Ada')
console.log('2 + 3 = 5, and Ada was greeted')

// An error response has a code, and the connection stays open.
const failure = await peer.call('multiply', [2, 3]).catch(error => error)
assert.equal(failure.code, -32601)
console.log(`multiply: ${failure.message}`)

await peer.close()
await listener.close()
