// Three servers behind one address: two in this process, and a child process. Clients see one server
// with the tools of all three, each prefixed with the name of its server.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { connect, listen, Server } from 'trunkline'
import { Router } from 'trunkline/router'
import * as z from 'zod'

const weather = new Server({ name: 'weather', version: '1.0.0' })
const city = z.object({ city: z.string() })
weather.tool('forecast', { input: city }, ({ city }) => `Sunny in ${city}`)
weather.tool('reset', {}, () => 'Gone is the weather')
weather.resource('stations', 'weather://stations', {}, () => ['Oslo', 'Bergen'])

const texts = new Server({ name: 'texts', version: '1.0.0' })
texts.tool('shout', { input: z.object({ text: z.string() }) }, ({ text }) => text.toUpperCase())
texts.prompt('poem', { args: city }, ({ city }) => `Write a poem about ${city}.`)

const router = new Router({
  servers: {
    weather: { server: weather, tools: { deny: ['reset'], rename: { forecast: 'outlook' } } },
    texts, // short for { server: texts }
    hello: {
      command: process.execPath,
      args: [fileURLToPath(new URL('hello-server.js', import.meta.url))],
    },
  },
})
// Optional: calls wait for servers that are starting.
await router.ready()

const listener = await listen(router, 'http://127.0.0.1:0/mcp')
const client = await connect(listener.address)
console.log(`${client.server.name} at ${listener.address}`)

const tools = []
for await (const tool of client.tools()) tools.push(tool.name)
assert.deepEqual(tools, ['weather__outlook', 'texts__shout', 'hello__greet'])
console.log(tools.join(', '))

assert.equal((await client.call('weather__outlook', { city: 'Oslo' })).text, 'Sunny in Oslo')
assert.equal((await client.call('texts__shout', { text: 'ahoy' })).text, 'AHOY')
assert.equal((await client.call('hello__greet', { name: 'Ada' })).text, 'Hello, Ada!')
// Resources keep their URIs.
assert.equal((await client.read('weather://stations')).text, '["Oslo","Bergen"]')
const poem = await client.prompt('texts__poem', { city: 'Oslo' })
assert.equal(poem.messages[0].content.text, 'Write a poem about Oslo.')

// A tool that is not listed cannot be called either. The operator can see the reason.
await assert.rejects(client.call('weather__reset'), { kind: 'tool_not_found' })
const [hidden] = router.hidden()
console.log(`hidden: ${hidden.name} of ${hidden.server}, ${hidden.why}`)
assert.equal(hidden.name, 'reset')

// Servers can be added and removed at run time; connected clients are notified.
const changes = client.changes({ tools: true })
await changes.ready
const dice = new Server({ name: 'dice', version: '1.0.0' })
dice.tool('roll', {}, () => '4')
router.register('dice', dice)
assert.equal((await changes.next()).value.type, 'tools')
assert.equal((await client.call('dice__roll')).text, '4')
await router.unregister('dice')
await changes.return()

const health = router.servers().map(({ name, level }) => `${name} ${level}`)
assert.deepEqual(health, ['weather ok', 'texts ok', 'hello ok'])
console.log(health.join(', '))

await client.close()
await listener.close()
await router.close()
