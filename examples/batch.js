// Several calls in one message, answered in one message.

import assert from 'node:assert/strict'
import { connect, listen } from 'trunkline'

const seen = []
const methods = {
  sum: (...numbers) => numbers.reduce((total, number) => total + number, 0),
  subtract: ({ minuend, subtrahend }) => minuend - subtrahend,
  log: word => seen.push(word),
}

const listener = await listen(methods, 'tcp://localhost:0', { protocol: 'jsonrpc' })
const peer = await connect(listener.address, { protocol: 'jsonrpc' })

// Settles like Promise.all. Catch a call that may fail separately.
const [sum, difference, failure] = await peer.batch(b => [
  b.call('sum', [1, 2, 4]),
  b.call('subtract', { minuend: 42, subtrahend: 23 }),
  b.call('foobar').catch(error => error),
  b.notify('log', ['no answer wanted']),
])

assert.equal(sum, 7)
assert.equal(difference, 19)
assert.equal(failure.code, -32601)
assert.deepEqual(seen, ['no answer wanted'])
console.log(`sum ${sum}, difference ${difference}, foobar: ${failure.message}`)

await peer.close()
await listener.close()
