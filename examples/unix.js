// A server on a Unix socket. The mode of the socket file lets only its owner connect.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, listen } from 'trunkline'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-'))
const path = join(folder, 'example.sock')
const isWindows = process.platform === 'win32'
// On Windows, use a named pipe instead.
const address = isWindows ? `pipe:trunkline-example-${process.pid}` : `unix:${path}`

const listener = await listen({ pid: () => process.pid }, address, { protocol: 'jsonrpc' })
if (!isWindows) assert.equal(statSync(path).mode & 0o777, 0o600)

const peer = await connect(address, { protocol: 'jsonrpc' })
assert.equal(await peer.call('pid'), process.pid)
console.log(`process ${process.pid} answers on ${listener.address}`)

// A second server cannot replace one that is running.
const second = await listen({}, address, { protocol: 'jsonrpc' }).catch(error => error)
assert.equal(second.code, 'refused')
console.log(second.message)

await peer.close()
await listener.close()
assert.equal(existsSync(path), false)
rmdirSync(folder)
