// The console of a router: a page beside it, for a person. Programs see and end what it shows, too.

import assert from 'node:assert/strict'
import { connect, listen, Server } from 'trunkline'
import { consoleOf } from 'trunkline/console'
import { observe } from 'trunkline/observe'
import { Router } from 'trunkline/router'

const notes = new Server({ name: 'notes', version: '1.0.0' })
notes.tool('read', {}, () => 'milk, bread')
const router = new Router({ servers: { notes } })
await router.ready()

// The console shows figures and log lines of the observer. It is served to this machine only.
const observer = observe({ endpoint: router, logs: 'error' })
const page = consoleOf(router, { observer })
const listener = await listen(router, 'http://127.0.0.1:0/mcp', { beside: page })
const link = page.link(listener.address)
assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/console\/#key=[\w-]{32}$/)

// The page itself is open; everything behind it needs the key.
const [address, hash] = link.split('#')
assert.equal((await fetch(address)).status, 200)
assert.equal((await fetch(`${address}api/state`)).status, 401)
const headers = { authorization: `Bearer ${hash.slice('key='.length)}` }
const { servers } = await (await fetch(`${address}api/state`, { headers })).json()
assert.deepEqual(
  servers.map(({ name, level }) => `${name} ${level}`),
  ['notes ok'],
)

// Who is connected: what the page "Sessions" shows, and what its button does.
const options = { name: 'editor', version: '2.0.0', era: 'session', reconnect: false }
const client = await connect(listener.address, options)
const [session] = router.callers.sessions()
assert.deepEqual([session.client.name, session.transport], ['editor', 'http'])
assert.equal(await router.callers.endSession(session.id), true)
assert.deepEqual(router.callers.sessions(), [])

await client.close()
await listener.close()
await page.close()
await observer.close()
await router.close()
console.log(address)
