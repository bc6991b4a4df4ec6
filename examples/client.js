// Every call of a client, to examples/everything-server.js.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { connect } from 'trunkline'
import * as z from 'zod'

const program = fileURLToPath(new URL('everything-server.js', import.meta.url))
const target = { command: process.execPath, args: [program] }
const logged = []

const client = await connect(target, {
  name: 'tour',
  version: '1.0.0',
  timeoutMs: 10_000,
  onLog: ({ level, logger, data }) => logged.push([level, logger, data]),
})

// ---- The server's description of itself.

const { name, title, instructions, capabilities, revision } = client.server
assert.equal(name, 'notebook')
assert.match(instructions, /notebook:\/\/index/)
assert.ok(capabilities.tools && capabilities.resources && capabilities.prompts)
console.log(`connected to ${title}, protocol version ${revision.name}`)

// ---- Lists. Pages are fetched as the loop reaches them.

const tools = new Map()
for await (const tool of client.tools()) tools.set(tool.name, tool)
assert.equal(tools.get('statistics').annotations.readOnlyHint, true)
assert.equal(tools.has('secret'), false)
console.log(`tools: ${[...tools.keys()].join(', ')}`)

const names = async list => {
  const found = []
  for await (const entry of list) found.push(entry.name)
  return found
}
assert.deepEqual(await names(client.resources()), ['index', 'logo'])
assert.deepEqual(await names(client.resourceTemplates()), ['note'])
assert.deepEqual(await names(client.prompts()), ['translate'])

// ---- Calls.

const written = await client.call('write', { title: 'ideas', words: 'Learn to juggle' })
assert.equal(written.text, 'Wrote ideas')

// With a schema, the client validates the structured content too. The schema is also its type.
const output = z.object({ notes: z.number() })
const { structured } = await client.call('statistics', {}, { output })
assert.equal(structured.notes, 3)

const cover = await client.call('cover')
assert.deepEqual(
  cover.content.map(block => block.type),
  ['text', 'image', 'resource_link', 'resource'],
)

// ---- Progress and log messages.

await client.setLogLevel('info')
const steps = []
const printed = await client.call(
  'print',
  {},
  { onProgress: ({ progress, total, message }) => steps.push(`${progress}/${total} ${message}`) },
)
assert.equal(printed.text, '3 pages')
assert.deepEqual(steps, ['1/3 printed shopping', '2/3 printed travel', '3/3 printed ideas'])
assert.deepEqual(logged[0], ['info', 'printer', { printed: 'shopping' }])

// ---- Cancelling: the promise rejects with the signal's reason, and the signal of the tool aborts.

const controller = new AbortController()
const slow = client.call('print', { pauseMs: 60_000 }, { signal: controller.signal })
controller.abort(new Error('changed my mind'))
await assert.rejects(slow, { message: 'changed my mind' })

// ---- Errors. A tool that fails returns an answer with isError; every other failure rejects.

const failed = await client.call('tear out', { title: 'nothing' })
assert.equal(failed.isError, true)
assert.equal(failed.text, 'There is no note called nothing')

const wrong = await client.call('write', { title: 5 })
assert.equal(wrong.isError, true)
console.log(wrong.text)

await assert.rejects(client.call('burn'), { name: 'RpcError', kind: 'access_denied' })
await assert.rejects(client.call('fly'), { name: 'RpcError', kind: 'tool_not_found' })
await assert.rejects(client.read('notebook://notes/none'), { kind: 'resource_not_found' })
await assert.rejects(client.call('print', { pauseMs: 60_000 }, { timeoutMs: 20 }), {
  name: 'ChannelError',
  code: 'timeout',
})

// ---- Resources, prompts, completion.

const index = await client.read('notebook://index')
assert.deepEqual(JSON.parse(index.text), ['shopping', 'travel', 'ideas'])
assert.equal((await client.read('notebook://notes/travel')).text, 'Book the train')
assert.equal((await client.read('notebook://logo')).contents[0].mimeType, 'image/png')

const prompt = await client.prompt('translate', { title: 'travel', language: 'Italian' })
assert.equal(prompt.messages.length, 3)
assert.equal(prompt.messages[0].content.text, 'Translate this note into Italian.')

const template = { resource: 'notebook://notes/{title}' }
assert.deepEqual((await client.complete(template, 'title', 't')).values, ['travel'])
const settled = { title: 'travel' }
const languages = await client.complete({ prompt: 'translate' }, 'language', 'Fr', settled)
assert.deepEqual(languages.values, ['French'])

// ---- Change notifications, for lists and for resources by URI. Leaving the loop ends the subscription.

const changes = client.changes({ tools: true, resources: ['notebook://notes/ideas'] })
await changes.ready
await client.call('manage', { what: 'enable' })
await client.call('write', { title: 'ideas', words: 'Learn to whistle' })
const seen = []
for await (const change of changes) {
  seen.push(change)
  if (seen.length === 2) break
}
assert.deepEqual(seen, [{ type: 'tools' }, { type: 'resource', uri: 'notebook://notes/ideas' }])
assert.equal((await client.call('secret')).text, 'You found it')

await client.call('manage', { what: 'describe' })
for await (const tool of client.tools()) tools.set(tool.name, tool)
assert.equal(tools.get('secret').description, 'Can be found now')
await client.call('manage', { what: 'remove' })
await assert.rejects(client.call('secret'), { kind: 'tool_not_found' })
console.log(`saw ${seen.map(change => change.uri ?? change.type).join(' and ')} change`)

// ---- Any other request that the server supports.

const page = await client.request('prompts/list', {})
assert.equal(page.prompts[0].name, 'translate')
await client.close()

// ---- Several requests in one message, in the protocol version and the profile that support batches.

const batching = await connect(target, { revisions: ['2025-03-26'] })
const [listed, asked] = await batching.batch(b => [
  b.request('tools/list'),
  b.request('tools/call', { name: 'statistics', arguments: {} }),
])
assert.equal(listed.tools.length, tools.size - 1)
assert.match(asked.content[0].text, /"notes":2/)
console.log(`one batch returned ${listed.tools.length} tools and the statistics`)
await batching.close()
