// Sends the same requests to a server of the official SDK and to the same server migrated to Trunkline,
// with the official client. The differences are at the end, and in docs/migrating.md.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const before = await start('official-server.js')
const after = await start('migrated-server.js')

const same = {
  'its name': client => client.getServerVersion(),
  'its instructions': client => client.getInstructions(),
  'the tools': async client => (await client.listTools()).tools.map(plainTool),
  'a call': client => call(client, 'rename', { id: '1', name: 'Eve' }),
  'a tool that throws': client => call(client, 'rename', { id: '2', name: 'Eve' }),
  'invalid arguments': async client => (await call(client, 'rename', { id: '1' })).isError,
  'a call without arguments': client => call(client, 'count'),
  'a tool with an elicitation': client => call(client, 'greet'),
  'the resources': client => client.listResources(),
  'the templates': client => client.listResourceTemplates(),
  'a resource': client => client.readResource({ uri: 'users://all' }),
  'a resource of a template': client => client.readResource({ uri: 'users://one/1' }),
  'the prompts': client => client.listPrompts(),
  'a prompt': async client => (await client.getPrompt(welcome)).messages,
  'a completion': client => client.complete(typing),
}
const welcome = { name: 'welcome', arguments: { name: 'Ada' } }
const typing = {
  ref: { type: 'ref/resource', uri: 'users://one/{id}' },
  argument: { name: 'id', value: '' },
}

for (const [what, ask] of Object.entries(same)) {
  assert.deepEqual(await ask(after), await ask(before), what)
  console.log(`the same: ${what}`)
}

// The differences. Each one follows from the specification.

// An unknown tool, prompt or resource is a protocol error, with its name or URI as data.
assert.equal((await call(before, 'fly')).isError, true)
await assert.rejects(call(after, 'fly'), {
  code: -32602,
  data: { tool: 'fly', kind: 'tool_not_found' },
})

// The error of an unknown resource has the code of the protocol version.
const none = { uri: 'users://none' }
await assert.rejects(before.readResource(none), { code: -32602 })
await assert.rejects(after.readResource(none), { code: -32002 })

// Subscriptions and log levels are available without a declaration.
assert.equal(before.getServerCapabilities().resources.subscribe, undefined)
assert.equal(after.getServerCapabilities().resources.subscribe, true)

await Promise.all([before.close(), after.close()])

async function start(file) {
  const client = new Client({ name: 'c', version: '1.0.0' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept',
    content: { name: 'Ada' },
  }))
  const args = [fileURLToPath(new URL(file, import.meta.url))]
  await client.connect(new StdioClientTransport({ command: process.execPath, args }))
  return client
}

function call(client, name, args = {}) {
  return client.callTool({ name, arguments: args })
}

/** Removes equivalent differences: the schema dialect, and the default of an option. */
function plainTool({ inputSchema, outputSchema, execution, ...tool }) {
  assert.ok([undefined, 'forbidden'].includes(execution?.taskSupport))
  const { properties, required } = inputSchema
  return { ...tool, properties: properties ?? {}, required, output: outputSchema?.properties }
}
