// What a server does, seen from outside: events, metrics, health, traces passed on.

import assert from 'node:assert/strict'
import { connect, Server } from 'trunkline'
import { events, observe, traceOf, withTrace } from 'trunkline/observe'

const server = new Server({ name: 'shop', version: '1.0.0' })
// First of all, so that it also sees what other middleware refuses.
const observer = observe({ endpoint: server, server: 'shop', logs: 'error' })

server.tool('price', {}, () => '3 pounds')
server.tool('order', {}, () => {
  throw new Error('sold out')
})

const seen = []
const endListening = events.callEnded.subscribe(({ method, name, outcome }) => {
  if (method === 'tools/call') seen.push(`${name} ${outcome}`)
})

const client = await connect(server, { name: 'till', version: '1.0.0' })
await client.call('price')
assert.equal((await client.call('order')).isError, true)
await assert.rejects(client.call('refund'))
endListening()
assert.deepEqual(seen, ['price ok', 'order tool-error', 'refund error'])

// Operators have an address of their own.
const { address } = await observer.listen('http://127.0.0.1:0')
const metrics = await (await fetch(`${address}/metrics`)).text()
const calls = metrics.split('\n').filter(line => /^trunkline_calls_total.*tools\/call/.test(line))
assert.equal(calls.length, 3)
const ready = await (await fetch(`${address}/readyz`)).json()
assert.equal(ready.status, 'ready')

// Traces travel in `_meta`, with or without OpenTelemetry; what is malformed does not.
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
assert.deepEqual(withTrace({ traceparent: 'old' }, traceOf({ traceparent, tracestate: '\n' })), {
  traceparent,
})

await client.close()
await observer.close()
await server.close()
console.log(calls.join('\n'))
