// Fewer tools at once: views of one router with some of its servers and tools, at an address of their own
// or for some callers, and a search instead of a long list.

import assert from 'node:assert/strict'
import { connect, listen, Server } from 'trunkline'
import { Router } from 'trunkline/router'

const git = new Server({ name: 'git', version: '1.0.0' })
git.tool('log', { description: 'Shows the commits of a branch' }, () => 'a1b2c3 fix the gate')
git.tool('delete_branch', { description: 'Deletes a branch' }, () => 'deleted')

const tickets = new Server({ name: 'tickets', version: '1.0.0' })
tickets.tool('find', { description: 'Finds tickets by words' }, () => '#7 the gate squeaks')
tickets.tool('close', { description: 'Closes a ticket' }, () => 'closed')

const router = new Router({
  servers: { git, tickets },
  views: {
    reading: { tools: { allow: ['git__log', 'tickets__find'] } },
    code: { servers: ['git'], callers: [{ client: 'editor*' }] },
    all: { toolSearch: {} },
  },
})
const namesOf = async client => (await client.request('tools/list', {})).tools.map(t => t.name)

// A view at an address of its own. A tool outside of it does not exist for its callers.
const listener = await listen(router.view('reading'), 'http://127.0.0.1:0/mcp')
const reader = await connect(listener.address)
assert.deepEqual(await namesOf(reader), ['git__log', 'tickets__find'])
await assert.rejects(reader.call('git__delete_branch'), { kind: 'tool_not_found' })
console.log('reading:', (await namesOf(reader)).join(', '))

// A view for callers that a rule names, at the endpoint of the router; other callers see everything.
const editor = await connect(router, { name: 'editor-app', version: '1.0.0' })
const other = await connect(router)
assert.deepEqual(await namesOf(editor), ['git__log', 'git__delete_branch'])
assert.equal((await namesOf(other)).length, 4)
console.log('code:', (await namesOf(editor)).join(', '))

// A view with a search: the model sees two tools, finds the others by words, and calls them by name.
const searcher = await connect(router.view('all'))
assert.deepEqual(await namesOf(searcher), ['search_tools', 'call_tool'])
const { text } = await searcher.call('search_tools', {
  query: 'which commits are there?',
  limit: 1,
})
assert.match(text, /^1 of 4 tools: .*git__log/)
const { text: log } = await searcher.call('call_tool', { name: 'git__log' })
assert.equal(log, 'a1b2c3 fix the gate')
console.log('found and called git__log:', log)

for (const client of [reader, editor, other, searcher]) await client.close()
await listener.close()
await router.close()
