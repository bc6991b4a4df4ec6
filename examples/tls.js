// A server over TLS: its certificate, a client that trusts it, and a renewal without interruption.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { connect, listen, Server } from 'trunkline'

const server = new Server({ name: 'secure', version: '1.0.0' })
server.tool('greet', { description: 'Says hello.' }, () => 'hello over TLS')

// Certificate and key may be in one file. Paths are read again when the files change.
const file = fileURLToPath(new URL('localhost.pem', import.meta.url))
const listener = await listen(server, 'https://localhost:0/mcp', { tls: { cert: file, key: file } })

// The certificate names "localhost" and is its own authority.
const address = listener.address.replace('127.0.0.1', 'localhost')
const ca = await readFile(file, 'utf8')
const client = await connect(address, { ca })
console.log((await client.call('greet')).text)

// A renewed certificate applies to new connections; open ones continue.
await listener.reload()
assert.equal((await client.call('greet')).text, 'hello over TLS')

// Without the authority, nothing is sent.
const stranger = await connect(address, { reconnect: false }).catch(error => error)
assert.equal(stranger.code, 'refused')
console.log(`without ca: ${stranger.message}`)

await client.close()
await listener.close()
