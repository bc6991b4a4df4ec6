// Tests of a server that requires authorization, with an authorization server in the same process.

import assert from 'node:assert/strict'
import { connect, listen, Server } from 'trunkline'
import { bearer, oauth } from 'trunkline/auth'
import { devIssuer, tokenFaults } from 'trunkline/testing'

const server = new Server({ name: 'notes', version: '1.0.0' })
server.tool('list', {}, (_, { caller }) => `the notes of ${caller.principal.subject}`)
server.tool('purge', { auth: { scopes: ['notes:write'] } }, () => 'purged')
server.tool('audit', { auth: { roles: ['admin'] } }, () => 'audited')

const issuer = await devIssuer({ users: [{ sub: 'ada', roles: ['admin'] }, { sub: 'bob' }] })
const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
  auth: { verify: issuer.verifier(), scopes: ['notes:read'] },
})

// A token without a login.
const token = await issuer.token({
  sub: 'ada',
  scopes: ['notes:read', 'notes:write'],
  audience: listener.address,
})
const ada = await connect(listener.address, { auth: bearer(token) })
console.log((await ada.call('list')).text, (await ada.call('audit')).text)
await ada.close()

// A login, with everything that a client does: discovery, registration, the page, and one more login for more scopes.
const auth = oauth({ redirect: 'http://127.0.0.1:1/callback', open: issuer.browser('bob') })
const bob = await connect(listener.address, { auth })
console.log((await bob.call('list')).text, (await bob.call('purge')).text)
await assert.rejects(bob.call('audit'), /audit/)
await bob.close()

// Every way in which a token can be wrong: the server refuses them all.
for (const fault of tokenFaults) {
  const forged = await issuer.token({ scopes: ['notes:read'], audience: listener.address, fault })
  const { status } = await fetch(listener.address, {
    method: 'POST',
    headers: { authorization: `Bearer ${forged}` },
  })
  // 429 after many invalid tokens from one address.
  assert.ok([400, 401, 429].includes(status), `${fault}: ${status}`)
}
console.log(`${tokenFaults.length} wrong tokens are refused`)

await listener.close()
await issuer.close()
