// A router with an access policy and an audit log: who sees and uses which tools, and what is recorded of it.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, listen, Server } from 'trunkline'
import { apiKeys, bearer, newApiKey } from 'trunkline/auth'
import { openAuditLog, verifyAuditLog } from 'trunkline/observe'
import { Router } from 'trunkline/router'

const notes = new Server({ name: 'notes', version: '1.0.0' })
for (const name of ['list', 'add', 'delete_all']) notes.tool(name, {}, () => `${name}: done`)

const folder = await mkdtemp(join(tmpdir(), 'trunkline-'))
const file = join(folder, 'audit.jsonl')
const audit = await openAuditLog(file)

const router = new Router({
  servers: { notes },
  policy: {
    default: 'deny',
    rules: [
      { name: 'reading', allow: ['notes__list'] },
      { name: 'writing', who: { scopes: ['notes:write'] }, allow: ['notes__*'] },
      { name: 'nothing is deleted', deny: ['*__delete_*'], unless: { roles: ['admin'] } },
    ],
  },
  audit,
})

const ada = await newApiKey('ada', { scopes: ['notes:write'], roles: ['admin'] })
const bob = await newApiKey('bob')
const listener = await listen(router, 'http://127.0.0.1:0/mcp', {
  auth: { verify: apiKeys({ keys: [ada.record, bob.record] }) },
})

const admin = await connect(listener.address, { auth: bearer(ada.key) })
assert.equal((await admin.call('notes__delete_all')).text, 'delete_all: done')

// Bob sees what he could use with more scopes, and a call tells his client which. What is denied does not exist.
const user = await connect(listener.address, { auth: bearer(bob.key) })
const names = []
for await (const { name } of user.tools()) names.push(name)
assert.deepEqual(names, ['notes__list', 'notes__add'])
assert.equal((await user.call('notes__list')).text, 'list: done')
await assert.rejects(user.call('notes__add'), /403/)
await assert.rejects(user.call('notes__delete_all'), { kind: 'tool_not_found' })

// Another policy takes effect at once.
router.setPolicy({ rules: [] })
assert.equal((await user.call('notes__add')).text, 'add: done')

await Promise.all([admin.close(), user.close(), listener.close()])
await router.close()
await audit.close()

// Every decision is a line, with the digest of the line before it.
const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
for (const line of lines) {
  const { principal, name, outcome, rule = 'default' } = JSON.parse(line)
  console.log(`${principal} ${name}: ${outcome} (${rule})`)
}
const { lines: count, broken } = await verifyAuditLog(file)
assert.deepEqual([count, broken], [5, undefined])
await rm(folder, { recursive: true })
