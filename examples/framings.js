// The same server three times over TCP, with each of the three framings.

import assert from 'node:assert/strict'
import { connect, listen } from 'trunkline'

const methods = { length: text => text.length }
const text = 'two\nlines'

for (const framing of ['lines', 'length', 'headers']) {
  const listener = await listen(methods, 'tcp://127.0.0.1:0', { protocol: 'jsonrpc', framing })
  const peer = await connect(listener.address, { protocol: 'jsonrpc', framing })
  const length = await peer.call('length', [text])
  assert.equal(length, text.length)
  console.log(`${framing}: ${length}`)
  await peer.close()
  await listener.close()
}
