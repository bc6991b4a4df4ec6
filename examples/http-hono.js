// A server mounted in a Hono application, with requests and responses of the Fetch standard.

import assert from 'node:assert/strict'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { connect, Server } from 'trunkline'
import { fetchHandler } from 'trunkline/http'

const server = new Server({ name: 'greeter', version: '1.0.0' })
const input = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
server.tool('greet', { input }, ({ name }) => `Hello, ${name}!`)

// To serve it under another host name, pass { allowedHosts: ['api.example.com'] }.
const mcp = fetchHandler(server)
const app = new Hono()
app.all('/mcp', context => mcp(context.req.raw))
app.get('/page', context => context.text('a page'))

const { http, port } = await new Promise(resolve => {
  const http = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
    resolve({ http, port }),
  )
})

const client = await connect(`http://127.0.0.1:${port}/mcp`)
const answer = await client.call('greet', { name: 'Ada' })
assert.equal(answer.text, 'Hello, Ada!')
console.log(`over Hono: ${answer.text}`)
assert.equal(await (await fetch(`http://127.0.0.1:${port}/page`)).text(), 'a page')

await client.close()
await mcp.close()
http.close()
