// A server for WebSockets, and who may connect to it.

import assert from 'node:assert/strict'
import { connect, listen } from 'trunkline'

const listener = await listen({ add: (a, b) => a + b }, 'ws://localhost:0/rpc', {
  protocol: 'jsonrpc',
  allowedOrigins: ['https://app.example.com'],
})

const peer = await connect(listener.address, { protocol: 'jsonrpc' })
assert.equal(await peer.call('add', [2, 3]), 5)
console.log(`${listener.address}: 2 + 3 = 5`)

// Browsers tell which page a connection comes from; programs do not, and are let in.
for (const [origin, outcome] of [
  ['https://app.example.com', 'let in'],
  ['https://evil.example', 'connecting refused'],
]) {
  const visitor = await tryFrom(origin)
  console.log(`${origin}: ${visitor}`)
  assert.equal(visitor, outcome)
}

await peer.close()
await listener.close()

async function tryFrom(origin) {
  try {
    const visitor = await connect(listener.address, { protocol: 'jsonrpc', headers: { origin } })
    await visitor.close()
    return 'let in'
  } catch (error) {
    return `connecting ${error.code}`
  }
}
