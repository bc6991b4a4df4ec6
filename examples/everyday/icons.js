// @ts-check
// A tool with an icon.

import assert from 'node:assert/strict'
import { connect, Server } from 'trunkline'

const server = new Server({ name: 'weather', version: '1.0.0' })

// ---- the task
server.tool('forecast', { icons: [{ src: 'https://example.com/sun.png' }] }, () => 'Sunny')
// ---- the check

const client = await connect(server)
for await (const { name, icons } of client.tools()) {
  assert.deepEqual(icons, [{ src: 'https://example.com/sun.png' }])
  console.log(`${name}: ${icons?.[0]?.src}`)
}
await client.close()
