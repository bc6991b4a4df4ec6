// A server on TCP and a client for it. Port 0 takes any free port; the listener says which.

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

// A failure is an error with a number, and the connection goes on.
const failure = await peer.call('multiply', [2, 3]).catch(error => error)
assert.equal(failure.code, -32601)
console.log(`multiply: ${failure.message}`)

await peer.close()
await listener.close()
