// A WebSocket server, and which origins it accepts.

import assert from 'node:assert/strict'
import { connect, listen } from 'trunkline'

const listener = await listen({ add: (a, b) => a + b }, 'ws://localhost:0/rpc', {
  protocol: 'jsonrpc',
  allowedOrigins: ['https://app.example.com'],
})

const peer = await connect(listener.address, { protocol: 'jsonrpc' })
assert.equal(await peer.call('add', [2, 3]), 5)
console.log(`${listener.address}: 2 + 3 = 5`)

// Browsers send the origin of the page. Other programs send none and are accepted.
for (const [origin, outcome] of [
  ['https://app.example.com', 'accepted'],
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
    return 'accepted'
  } catch (error) {
    return `connecting ${error.code}`
  }
}
