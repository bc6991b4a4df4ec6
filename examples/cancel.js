// Cancelling a call: both peers agree on a notification, and the signal of the method aborts.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, listen } from 'trunkline'

// JSON-RPC itself has no cancellation. This is the notification that language servers use.
const peer = { cancellation: { method: '$/cancelRequest', member: 'id' } }

const events = new EventTarget()
const methods = {
  work: async (_params, { signal }) => {
    events.dispatchEvent(new Event('started'))
    await once(signal, 'abort')
    events.dispatchEvent(new Event('stopped'))
  },
}

const listener = await listen(methods, 'tcp://127.0.0.1:0', { protocol: 'jsonrpc', peer })
const caller = await connect(listener.address, { protocol: 'jsonrpc', peer })

const [started, stopped] = [once(events, 'started'), once(events, 'stopped')]
const controller = new AbortController()
const call = caller.call('work', {}, { signal: controller.signal })

await started
controller.abort(new Error('no longer needed'))
// The call rejects immediately with the caller's reason; the method stops a moment later.
await assert.rejects(call, { message: 'no longer needed' })
await stopped
console.log('cancelled by the caller, stopped by the method')

// A timeout cancels the call too.
await assert.rejects(caller.call('work', {}, { timeoutMs: 20 }), { code: 'timeout' })

await caller.close()
await listener.close()
