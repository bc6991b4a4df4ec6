// @ts-check
// A proxy for a remote server: in every protocol version, with reconnects and circuit breakers.

import assert from 'node:assert/strict'
import { connect, listen, Server } from 'trunkline'
import { Router } from 'trunkline/router'

const remote = new Server({ name: 'remote', version: '1.0.0' }, { revisions: ['2026-07-28'] })
remote.tool('greet', {}, () => 'Hello from afar')
const listener = await listen(remote, 'http://127.0.0.1:0/mcp')
const url = listener.address

// ---- the task
const proxy = new Router({ servers: { remote: { url } } })
// ---- the check

// It is served like any server: listen(proxy, …), serve(proxy), or in process as here.
for (const revision of /** @type {const} */ (['2025-06-18', '2026-07-28'])) {
  const client = await connect(proxy, { revisions: [revision] })
  assert.equal((await client.call('remote__greet')).text, 'Hello from afar')
  console.log(`${revision}: ${(await client.call('remote__greet')).text}`)
  await client.close()
}
for (const open of [proxy, listener]) await open.close()
