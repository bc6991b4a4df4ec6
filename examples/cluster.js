// Sessions that any node serves. Three listeners share a backplane, as three processes share Redis: a client goes on at
// another node after the one that it began with has closed. In production each node is a process of its own, and the
// backplane is `redis('redis://…')` of trunkline/redis.

import assert from 'node:assert/strict'
import { listen, Server } from 'trunkline'
import { memory } from 'trunkline/backplane'

const backplane = memory()

async function node(name) {
  const server = new Server({ name: 'cluster', version: '1.0.0' })
  server.tool('where', {}, () => name)
  return listen(server, 'http://127.0.0.1:0/mcp', { backplane, cluster: { name } })
}

const [first, second, third] = await Promise.all(['node-1', 'node-2', 'node-3'].map(node))

/** Sends a message to a node, as a client behind a load balancer does. */
async function send({ address }, message, session) {
  const response = await fetch(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...(session && { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
  return { response, text: await response.text() }
}

async function where(listener, session) {
  const params = { name: 'where', arguments: {} }
  const { text } = await send(listener, { id: 2, method: 'tools/call', params }, session)
  return JSON.parse(text).result.content[0].text
}

const clientInfo = { name: 'example', version: '1.0.0' }
const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
const { response } = await send(first, { id: 1, method: 'initialize', params })
const session = response.headers.get('mcp-session-id')
await send(second, { method: 'notifications/initialized' }, session)

// Every node answers, and the owner of the session executes the call.
for (const listener of [first, second, third])
  assert.equal(await where(listener, session), 'node-1')
console.log('all nodes serve the session of node-1')

// A node that closes hands its sessions to the others.
await first.close()
const owner = await where(second, session)
assert.notEqual(owner, 'node-1')
assert.equal(await where(third, session), owner)
console.log(`node-1 has closed; ${owner} continues its session`)

await Promise.all([second.close(), third.close()])
await backplane.close()
