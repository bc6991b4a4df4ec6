// A server mounted in a Fastify application.

import assert from 'node:assert/strict'
import Fastify from 'fastify'
import { connect, Server } from 'trunkline'
import { nodeHandler } from 'trunkline/http'

const server = new Server({ name: 'greeter', version: '1.0.0' })
const input = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
server.tool('greet', { input }, ({ name }) => `Hello, ${name}!`)

const mcp = nodeHandler(server)
const app = Fastify()
app.get('/page', async () => 'a page')

// A separate scope, in which no other plugin reads the bodies.
app.register((scope, _options, done) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _body, pass) => pass(null))
  scope.all('/mcp', (request, reply) => {
    reply.hijack()
    mcp(request.raw, reply.raw)
  })
  done()
})
app.addHook('preClose', () => mcp.close())

const address = await app.listen({ port: 0, host: '127.0.0.1' })

const client = await connect(`${address}/mcp`)
const answer = await client.call('greet', { name: 'Ada' })
assert.equal(answer.text, 'Hello, Ada!')
console.log(`over Fastify: ${answer.text}`)
assert.equal(await (await fetch(`${address}/page`)).text(), 'a page')

await client.close()
await app.close()
