// One server at one HTTP address: for clients with a session, for stateless clients, for plain fetch,
// and for WebSockets.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, listen, Server } from 'trunkline'
import * as z from 'zod'

const server = new Server({ name: 'post office', version: '1.0.0' })
server.tool('stamp', { input: z.object({ grams: z.number() }) }, ({ grams }) => grams * 2)
server.tool('deliver', {}, async (_, ctx) => {
  ctx.progress(1, 2, 'on its way')
  // Closes the stream during long work; the client reconnects for the result.
  const isClosed = ctx.closeStream()
  await sleep(50)
  return isClosed ? 'Delivered while you were away' : 'Delivered while you waited'
})

const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
  http: { sessions: { retryMs: 100 } },
})
console.log(listener.address)

// The client negotiates the protocol version. This server supports all, so the newest is selected.
const client = await connect(listener.address)
assert.equal(client.server.revision.era, 'stateless')
assert.equal((await client.call('stamp', { grams: 20 })).text, '40')
console.log(`${client.server.revision.name}: a stamp for 20 g costs 40`)

// A client of an earlier version has a session. The server keeps events that it misses.
const requests = []
const early = await connect(listener.address, {
  era: 'session',
  http: {
    fetch: (url, init) => {
      requests.push(new Headers(init.headers).has('last-event-id') ? 'resumed' : init.method)
      return fetch(url, init)
    },
  },
})
const { text } = await early.call('deliver')
console.log(`${early.server.revision.name}: ${text}`)
assert.equal(text, 'Delivered while you were away')
assert.ok(requests.includes('resumed'))
assert.equal((await client.call('deliver')).text, 'Delivered while you waited')

// Plain fetch: headers repeat parts of the body, so that proxies do not have to read it.
const revision = client.server.revision.name
const response = await fetch(listener.address, {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': revision,
    'mcp-method': 'tools/call',
    'mcp-name': 'stamp',
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'stamp',
      arguments: { grams: 50 },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': revision,
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  }),
})
const { result } = await response.json()
assert.equal(response.status, 200)
assert.equal(result.content[0].text, '100')
console.log(`fetch: a stamp for 50 g costs ${result.content[0].text}`)

// A web page of another origin is rejected, and so is an unknown session.
for (const [headers, status] of [
  [{ origin: 'https://evil.example' }, 403],
  [{ accept: 'text/event-stream', 'mcp-session-id': 'guessed' }, 404],
]) {
  const refused = await fetch(listener.address, { headers })
  assert.equal(refused.status, status)
  console.log(`${status}: ${(await refused.json()).error.message}`)
}

// The same address accepts WebSockets.
const socket = await connect(listener.address.replace('http:', 'ws:'))
assert.equal((await socket.call('stamp', { grams: 1 })).text, '2')

for (const open of [client, early, socket]) await open.close()
await listener.close()
