// One server in several processes that share an address and their sessions, because Node uses one core per process.
// The primary process holds the state; the workers are nodes of a cluster. `trunkline serve server.js --workers 2`
// does the same for a file that exports its server, and replaces workers that end.

import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { listen, Server } from 'trunkline'
import { memory, parentBackplane, serveBackplane } from 'trunkline/backplane'

if (cluster.isPrimary) {
  const state = memory()
  cluster.setupPrimary({ serialization: 'advanced' })
  const workers = [cluster.fork(), cluster.fork()]
  for (const worker of workers) serveBackplane(state, worker)
  const [[address], [same]] = await Promise.all(workers.map(ready))
  assert.equal(same, address)

  const session = await open(address)
  // Connections go to the workers in turn, and the owner of the session executes the call.
  const owners = new Set()
  for (let call = 0; call < 6; call++) owners.add(await where(address, session))
  assert.equal(owners.size, 1)
  console.log(`process ${[...owners]} has the session, and both processes serve it`)

  for (const worker of workers) worker.send('stop')
  await Promise.all(workers.map(worker => once(worker, 'exit')))
  await state.close()
} else {
  const backplane = parentBackplane(process)
  const server = new Server({ name: 'workers', version: '1.0.0' })
  server.tool('where', {}, () => String(process.pid))
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', { backplane })
  process.on('message', async message => {
    if (message !== 'stop') return
    await listener.close()
    await backplane.close()
    process.exit()
  })
  process.send({ address: listener.address })
}

/** Waits until a worker listens. */
async function ready(worker) {
  for (;;) {
    const [message] = await once(worker, 'message')
    if (message.address !== undefined) return [message.address]
  }
}

/** Sends a message on a connection of its own. */
async function send(address, message, session) {
  const response = await fetch(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      connection: 'close',
      ...(session && { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
  return { response, text: await response.text() }
}

async function open(address) {
  const clientInfo = { name: 'example', version: '1.0.0' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const { response } = await send(address, { id: 1, method: 'initialize', params })
  const session = response.headers.get('mcp-session-id')
  await send(address, { method: 'notifications/initialized' }, session)
  return session
}

async function where(address, session) {
  const params = { name: 'where', arguments: {} }
  const { text } = await send(address, { id: 2, method: 'tools/call', params }, session)
  return JSON.parse(text).result.content[0].text
}
