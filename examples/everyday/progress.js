// @ts-check
// A tool that reports its progress.

import assert from 'node:assert/strict'
import { connect, Server } from 'trunkline'

const server = new Server({ name: 'copier', version: '1.0.0' })
const client = await connect(server)

// ---- the task
server.tool('copy', {}, (_, ctx) => {
  for (let page = 1; page <= 3; page++) ctx.progress(page, 3)
  return 'Done'
})
// ---- the check

/** @type {string[]} */
const seen = []
const onProgress = (/** @type {{ progress: number, total?: number }} */ { progress, total }) => {
  seen.push(`${progress}/${total}`)
}
assert.equal((await client.call('copy', {}, { onProgress })).text, 'Done')
assert.deepEqual(seen, ['1/3', '2/3', '3/3'])
console.log(seen.join(', '))
await client.close()
