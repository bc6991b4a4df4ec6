// A server as a route of Next: the content of app/mcp/route.js, and requests to it as Next makes them.

import assert from 'node:assert/strict'
import { Server } from 'trunkline'
import { fetchHandler } from 'trunkline/http'

const server = new Server({ name: 'greeter', version: '1.0.0' })
const input = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
server.tool('greet', { input }, ({ name }) => `Hello, ${name}!`)

// Next may run several instances, so each request must be self-contained: no sessions.
const handler = fetchHandler(server, { allowedHosts: ['app.example.com'], sessionless: true })

/** route.js exports these three. */
const { GET, POST, DELETE } = { GET: handler, POST: handler, DELETE: handler }

const response = await POST(request('tools/call', { name: 'greet', arguments: { name: 'Ada' } }))
const { result } = await response.json()
assert.equal(result.content[0].text, 'Hello, Ada!')
console.log(`as a route: ${result.content[0].text}`)

// Another host name is rejected: a web page cannot reach this server under its own name.
const stranger = new Request('https://evil.example/mcp', { method: 'POST' })
assert.equal((await POST(stranger)).status, 403)
assert.equal((await GET(new Request('https://app.example.com/mcp'))).status, 400)
assert.equal((await DELETE(new Request('https://app.example.com/mcp'))).status, 400)

function request(method, params) {
  return new Request('https://app.example.com/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
}
