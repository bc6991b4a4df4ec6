// One OpenTelemetry trace across an application, a router and a server.

import assert from 'node:assert/strict'
import { trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { connect, listen, Server } from 'trunkline'
import { observe } from 'trunkline/observe'
import { Router } from 'trunkline/router'

// The usual OpenTelemetry setup, with an exporter that keeps spans in memory instead of sending them.
const exporter = new InMemorySpanExporter()
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register()

const server = new Server({ name: 'shop', version: '1.0.0' })
const served = observe({ endpoint: server, traces: true })
server.tool('price', {}, async () => {
  // Spans of a tool are children of the span of its call.
  return trace.getTracer('shop').startActiveSpan('look up', span => {
    span.end()
    return '3 pounds'
  })
})
const shop = await listen(server, 'http://127.0.0.1:0/mcp')

const router = new Router({ servers: { shop: { url: shop.address } } })
const routed = observe({ endpoint: router, traces: true })
const front = await listen(router, 'http://127.0.0.1:0/mcp')
await Promise.all([served.ready, routed.ready, router.ready()])

const client = await connect(front.address)
await trace.getTracer('till').startActiveSpan('checkout', async span => {
  const { text } = await client.call('shop__price')
  assert.equal(text, '3 pounds')
  span.end()
})

const spans = exporter.getFinishedSpans()
const path = []
let parent
for (const name of ['checkout', 'tools/call shop__price', 'tools/call price', 'look up']) {
  const span = spans.find(one => one.name === name)
  assert.equal(span?.parentSpanContext?.spanId, parent)
  parent = span?.spanContext().spanId
  path.push(name)
}

await client.close()
await front.close()
await router.close()
await shop.close()
await Promise.all([served.close(), routed.close()])
console.log(path.join(' > '))
