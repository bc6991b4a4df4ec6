// A server that requires API keys: scopes for every message, a method and a tool, a hidden tool, and a key that is revoked.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { connect, listen, Server } from 'trunkline'
import { apiKeys, bearer, keyFile, newApiKey } from 'trunkline/auth'

// A key for each caller. The file has only digests, so the keys themselves are shown once.
const ada = await newApiKey('ada', { scopes: ['notes', 'call', 'notes:write'], roles: ['admin'] })
const bob = await newApiKey('bob', { scopes: ['notes', 'call'] })
const folder = await mkdtemp(join(tmpdir(), 'trunkline-'))
const file = join(folder, 'keys.json')
const save = (...keys) => writeFile(file, JSON.stringify({ keys }), { mode: 0o600 })
await save(ada.record, bob.record)

const server = new Server({ name: 'notes', version: '1.0.0' })
server.tool('list', {}, (_, { caller }) => `the notes of ${caller.principal.subject}`)
server.tool('purge', { auth: { scopes: ['notes:write'] } }, () => 'purged')
server.tool('audit', { auth: { roles: ['admin'] } }, () => 'audited')
server.tool('share', {}, (_, ctx) => {
  ctx.require('notes:share')
  return 'shared'
})

const keys = keyFile(file)
const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
  auth: {
    verify: apiKeys({ keys }),
    scopes: ['notes'],
    methods: { 'tools/call': ['call'] },
    onDecision: ({ outcome, status, reason, principal }) => {
      if (outcome === 'refused') console.log(status, principal ?? 'somebody', reason)
    },
  },
})

// Without a key nothing is served.
const { status, headers } = await fetch(listener.address, { method: 'POST' })
assert.deepEqual([status, headers.get('www-authenticate')], [401, 'Bearer scope="notes"'])

const admin = await connect(listener.address, { auth: bearer(ada.key) })
assert.equal((await admin.call('list')).text, 'the notes of ada')
assert.equal((await admin.call('purge')).text, 'purged')
assert.equal((await admin.call('audit')).text, 'audited')
await assert.rejects(admin.call('share'), /403/)

const user = await connect(listener.address, { auth: bearer(bob.key) })
const names = []
for await (const { name } of user.tools()) names.push(name)
assert.deepEqual(names, ['list', 'purge', 'share'])
await assert.rejects(user.call('purge'), /403/)
await assert.rejects(user.call('audit'), { kind: 'tool_not_found' })

// A key that is no longer in the file is refused within a second, also on connections that are open.
await save(ada.record)
const refused = async () => user.call('list').catch(error => error)
while (!((await refused()) instanceof Error)) await setTimeout(100)
assert.match((await refused()).message, /refuses the token/)
assert.equal((await admin.call('list')).text, 'the notes of ada')

await user.close()
await admin.close()
await listener.close()
await server.close()
keys.close()
await rm(folder, { recursive: true })
