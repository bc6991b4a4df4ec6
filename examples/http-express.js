// A server mounted in an Express application, next to other routes.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import express from 'express'
import { connect, Server } from 'trunkline'
import { nodeHandler } from 'trunkline/http'

const server = new Server({ name: 'greeter', version: '1.0.0' })
const input = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
server.tool('greet', { input }, ({ name }) => `Hello, ${name}!`)

const mcp = nodeHandler(server)
const app = express()
// Mount it ahead of body parsers: the handler reads and validates the body itself.
app.all('/mcp', mcp)
app.use(express.json())
app.post('/page', (request, response) => response.send(`You said ${request.body.words}`))

const http = app.listen(0, '127.0.0.1')
await once(http, 'listening')
const { port } = http.address()

const client = await connect(`http://127.0.0.1:${port}/mcp`)
const answer = await client.call('greet', { name: 'Ada' })
assert.equal(answer.text, 'Hello, Ada!')
console.log(`over Express: ${answer.text}`)

const page = await fetch(`http://127.0.0.1:${port}/page`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"words":"hi"}',
})
assert.equal(await page.text(), 'You said hi')

// Close the handler first: it answers the requests in flight and ends its streams. Then close the HTTP
// server.
await client.close()
await mcp.close()
http.close()
