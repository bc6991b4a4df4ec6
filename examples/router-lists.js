// A router that answers before its server has started: it remembers what the server listed in the last
// run. The server is started by the first call. Instead of listing every tool, the router lets callers
// search them.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { connect } from 'trunkline'
import { RememberedLists, Router } from 'trunkline/router'

const program = fileURLToPath(new URL('worker-server.js', import.meta.url))
const servers = {
  worker: { command: process.execPath, args: [program], start: 'first-use' },
}

/** Runs a router, and returns what it has remembered at the end, as JSON. */
async function run(file, use) {
  const remembered = new RememberedLists()
  if (file !== undefined) remembered.import(JSON.parse(file))
  const router = new Router({ servers, remembered, toolSearch: { visible: ['worker__look'] } })
  const client = await connect(router)
  await use(router, client)
  await client.close()
  await router.close()
  return JSON.stringify(remembered.export())
}

const namesOf = async client => (await client.request('tools/list', {})).tools.map(t => t.name)
const expected = ['search_tools', 'call_tool', 'worker__look']

// Nothing is remembered yet, so the first list starts the server and waits for it.
const file = await run(undefined, async (router, client) => {
  assert.deepEqual(await namesOf(client), expected)
  assert.equal(router.server('worker').instances[0].state, 'ready')
})

await run(file, async (router, client) => {
  assert.deepEqual(await namesOf(client), expected)
  assert.equal(router.server('worker').instances[0].state, 'idle')
  console.log('listed from memory; the server is not running')

  const { text } = await client.call('search_tools', { query: 'work' })
  assert.match(text, /worker__work/)
  console.log(text.slice(0, text.indexOf(':')))

  const { text: pid } = await client.call('call_tool', { name: 'worker__look' })
  assert.equal(Number(pid), router.server('worker').instances[0].pids[0])
  console.log(`the first call has started it: ${pid}`)
})
