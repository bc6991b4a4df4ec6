// Authentication over sockets: the client sends its token in the first message, and the server knows the caller of each connection.

import assert from 'node:assert/strict'
import { connect, listen, Server } from 'trunkline'
import { apiKeys, bearer, newApiKey } from 'trunkline/auth'
import { devIssuer } from 'trunkline/testing'

const server = new Server({ name: 'notes', version: '1.0.0' })
server.tool('whoami', {}, (_, { caller }) => caller.principal.id)
server.tool('purge', { auth: { scopes: ['notes:write'] } }, () => 'purged')

// Two kinds of callers: programs with API keys, and users with tokens of an authorization server. Tokens name the
// server that they are for, so it needs a name, because a TCP address is no URL that an authorization server knows.
const resource = 'https://notes.example.com/mcp'
const issuer = await devIssuer({ users: [{ sub: 'ada' }], audience: resource })
const { key, record } = await newApiKey('nightly', { scopes: ['notes:write'] })
const listener = await listen(server, 'tcp://127.0.0.1:0', {
  auth: { resource, verify: [apiKeys({ keys: [record] }), issuer.verifier()] },
})

// TCP does not encrypt: use it on one machine, or in a network that does.
const nightly = await connect(listener.address, { auth: bearer(key) })
assert.equal((await nightly.call('whoami')).text, 'key:nightly')
assert.equal((await nightly.call('purge')).text, 'purged')
console.log(`an API key: ${(await nightly.call('whoami')).text}`)
await nightly.close()

// A function is asked for the token at every connection, so that a renewed one is used.
const ada = await connect(listener.address, { auth: bearer(() => issuer.token({ sub: 'ada' })) })
assert.equal((await ada.call('whoami')).text, `${issuer.issuer} ada`)
await assert.rejects(ada.call('purge'), { kind: 'insufficient_permissions' })
console.log('a token: ada, who may not purge')
await ada.close()

// Nobody else gets in.
await assert.rejects(connect(listener.address))
await assert.rejects(connect(listener.address, { auth: bearer(`${key.slice(0, -4)}AAAA`) }))
console.log('without a valid one: refused')

await listener.close()
await server.close()
await issuer.close()
