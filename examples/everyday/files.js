// @ts-check
// Files that clients upload with a tool and download as resources.

import assert from 'node:assert/strict'
import { connect, link, Server } from 'trunkline'
import * as z from 'zod'

const server = new Server({ name: 'files', version: '1.0.0' })
const client = await connect(server)

// ---- the task
const files = new Map()
const input = z.object({ name: z.string(), data: z.base64() })
server.tool('upload', { input }, ({ name, data }) => {
  files.set(name, Buffer.from(data, 'base64'))
  return link(`files://${name}`, { name })
})
server.resourceTemplate('file', 'files://{name}', {}, ({ name }) => files.get(name))
// ---- the check

const data = Buffer.from([0, 1, 255]).toString('base64')
const { content } = await client.call('upload', { name: 'a.bin', data })
assert.deepEqual(content, [{ type: 'resource_link', uri: 'files://a.bin', name: 'a.bin' }])
const { contents } = await client.read('files://a.bin')
assert.deepEqual(contents, [{ uri: 'files://a.bin', blob: data }])
await assert.rejects(client.read('files://none'), { kind: 'resource_not_found' })
assert.equal((await client.call('upload', { name: 'b', data: '?' })).isError, true)
console.log('3 bytes up and down')
await client.close()
