// @ts-check
// Titles in the language of the user, by the header Accept-Language.

import assert from 'node:assert/strict'
import { connect, Server } from 'trunkline'

const server = new Server({ name: 'calculator', version: '1.0.0' })

// ---- the task
server.tool('add', { title: { en: 'Add', de: 'Addieren' } }, () => 3)
// ---- the check

for (const [language, title] of Object.entries({ 'de-CH, en;q=0.5': 'Addieren', fr: 'Add' })) {
  const client = await connect(server, { headers: { 'accept-language': language } })
  for await (const tool of client.tools()) {
    assert.equal(tool.title, title)
    console.log(`${language}: ${tool.title}`)
  }
  await client.close()
}
