// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
// Serves the servers of a file that another host wrote: Cursor, with a name that is not an identifier, references of
// an editor, and one entry that is invalid.

import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from 'trunkline'
import { Router, readConfig } from 'trunkline/router'

const folder = fileURLToPath(new URL('.', import.meta.url))
const text = JSON.stringify({
  mcpServers: {
    'Hello World': {
      command: process.execPath,
      args: ['${workspaceFolder}${/}hello-server.js'],
      disabledTools: [],
    },
    broken: { url: 'https://mcp.example.com/mcp', headers: { Authorization: '${env:NOT_SET}' } },
  },
})

const config = readConfig(text, {
  file: '.cursor/mcp.json',
  env: {},
  // An invalid server is kept as one that is down, and the others are served.
  tolerant: true,
  places: {
    workspace: folder.replace(/[\\/]$/, ''),
    home: homedir(),
    separator: sep,
    readText: () => {
      throw new Error('this file refers to no other')
    },
  },
})
for (const { message } of [...config.notes, ...config.warnings]) console.log(message)

const router = new Router({ ...config.router, servers: config.servers })
await router.ready()
const client = await connect(router)
assert.equal((await client.call('Hello_World__greet', { name: 'Ada' })).text, 'Hello, Ada!')
const { level, reason } = router.server('broken')
assert.equal(level, 'down')
assert.match(reason, /NOT_SET is not set/)
console.log(`broken: ${reason}`)
await client.close()
await router.close()
