// @ts-check
// Two versions of a tool, one of them deprecated.

import assert from 'node:assert/strict'
import { connect, Server } from 'trunkline'

const server = new Server({ name: 'weather', version: '2.0.0' })

// ---- the task
server.tool('forecast', { deprecated: 'Use outlook.' }, () => 'Sunny')
server.tool('outlook', { version: '2.0.0' }, () => 'Sunny, 12 °C')
// ---- the check

const client = await connect(server)
const tools = []
for await (const { name, description, _meta } of client.tools()) {
  tools.push({ name, description, _meta })
}
assert.deepEqual(tools, [
  {
    name: 'forecast',
    description: 'Deprecated: Use outlook.',
    _meta: { 'trunkline/deprecated': 'Use outlook.' },
  },
  { name: 'outlook', description: undefined, _meta: { 'trunkline/version': '2.0.0' } },
])
assert.equal((await client.call('forecast')).text, 'Sunny')
console.log(tools.map(({ name, description }) => `${name}: ${description}`).join(', '))
await client.close()
