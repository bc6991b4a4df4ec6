// Observing a server: events, metrics, health, trace propagation.

import assert from 'node:assert/strict'
import { connect, Server } from 'trunkline'
import { events, observe, traceOf, withTrace } from 'trunkline/observe'

const server = new Server({ name: 'shop', version: '1.0.0' })
// Call observe first, so that it also sees requests that other middleware rejects.
const observer = observe({ endpoint: server, server: 'shop', logs: 'error' })

server.tool('price', {}, () => '3 pounds')
server.tool('order', {}, () => {
  throw new Error('sold out')
})

const seen = []
const unsubscribe = events.callFinished.subscribe(({ method, name, outcome }) => {
  if (method === 'tools/call') seen.push(`${name} ${outcome}`)
})

const client = await connect(server, { name: 'till', version: '1.0.0' })
await client.call('price')
assert.equal((await client.call('order')).isError, true)
await assert.rejects(client.call('refund'))
unsubscribe()
assert.deepEqual(seen, ['price ok', 'order tool-error', 'refund error'])

// A separate address for operators.
const { address } = await observer.listen('http://127.0.0.1:0')
const metrics = await (await fetch(`${address}/metrics`)).text()
const calls = metrics.split('\n').filter(line => /^trunkline_calls_total.*tools\/call/.test(line))
assert.equal(calls.length, 3)
const ready = await (await fetch(`${address}/readyz`)).json()
assert.equal(ready.status, 'ready')

// Trace context travels in `_meta`, with or without OpenTelemetry. Malformed values are dropped.
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
assert.deepEqual(withTrace({ traceparent: 'old' }, traceOf({ traceparent, tracestate: '\n' })), {
  traceparent,
})

await client.close()
await observer.close()
await server.close()
console.log(calls.join('\n'))
