// A handler is a function, and middleware is a function that wraps it.

import assert from 'node:assert/strict'
import { connect, listen } from 'trunkline'
import { compose, methods, RpcError } from 'trunkline/jsonrpc'

const calls = []

/** Records each call and its outcome, for synchronous and asynchronous methods. */
const journal = next => async (message, exchange) => {
  try {
    const result = await next(message, exchange)
    calls.push(`${message.method} ok`)
    return result
  } catch (error) {
    calls.push(`${message.method} ${error.code}`)
    throw error
  }
}

const guard = next => (message, exchange) => {
  if (message.method.startsWith('admin.')) throw new RpcError(-32001, 'Not allowed')
  return next(message, exchange)
}

const table = methods({ ping: () => 'pong', 'admin.stop': () => 'stopped' })
const handler = compose(table, [journal, guard])

const listener = await listen(handler, 'tcp://127.0.0.1:0', { protocol: 'jsonrpc' })
const peer = await connect(listener.address, { protocol: 'jsonrpc' })

assert.equal(await peer.call('ping'), 'pong')
await assert.rejects(peer.call('admin.stop'), { code: -32001, message: 'Not allowed' })
assert.deepEqual(calls, ['ping ok', 'admin.stop -32001'])
console.log(calls.join(', '))

await peer.close()
await listener.close()
