// @ts-check
// A tool for signed-in users of one plan. Others neither see it nor can they call it.

import assert from 'node:assert/strict'
import { connect, listen, Server } from 'trunkline'

/** @type {Map<string | undefined, { name: string, plan: string }>} */
const users = new Map([
  ['Bearer 1', { name: 'Ada', plan: 'pro' }],
  ['Bearer 2', { name: 'Bob', plan: 'free' }],
])
const info = { name: 'rows', version: '1.0.0' }

// ---- the task
const server = new Server(info, { context: ({ headers }) => users.get(headers.authorization) })
server.tool('all', { visible: (_, user) => user?.plan === 'pro' }, () => 'All rows')
// ---- the check

server.tool('first', {}, (_, { env }) => `The first row of ${env?.name}`)
const listener = await listen(server, 'http://127.0.0.1:0/mcp')
for (const [authorization, seen] of Object.entries({
  'Bearer 1': ['all', 'first'],
  'Bearer 2': ['first'],
  'Bearer 3': ['first'],
})) {
  const client = await connect(listener.address, { headers: { authorization } })
  const tools = []
  for await (const tool of client.tools()) tools.push(tool.name)
  assert.deepEqual(tools, seen)
  console.log(`${authorization} sees ${tools.join(', ')}: ${(await client.call('first')).text}`)
  if (seen.length === 1) await assert.rejects(client.call('all'), { kind: 'tool_not_found' })
  else assert.equal((await client.call('all')).text, 'All rows')
  await client.close()
}
await listener.close()

// A test needs neither HTTP nor a token.
assert.equal((await server.call('all', {}, { env: users.get('Bearer 1') })).text, 'All rows')
await assert.rejects(server.call('all'), { kind: 'tool_not_found' })
