// A router whose callers reach a server as themselves: it exchanges the token of each caller for one of the server.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { connect, listen, Server } from 'trunkline'
import { bearer, exchange, verifier } from 'trunkline/auth'
import { Router } from 'trunkline/router'

// A toy authorization server, which exchanges every token that it has issued (RFC 8693). Use a real one.
const tokens = new Map()
const issue = (user, audience) => {
  const token = randomUUID()
  tokens.set(token, { user, audience })
  return token
}
const authorizationServer = createServer(async (request, response) => {
  const form = new URLSearchParams(await text(request))
  const subject = tokens.get(form.get('subject_token'))
  const answer = subject
    ? {
        access_token: issue(subject.user, form.get('resource')),
        token_type: 'Bearer',
        expires_in: 60,
      }
    : { error: 'invalid_grant' }
  response.writeHead(subject ? 200 : 400).end(JSON.stringify(answer))
})
await new Promise(resolve => authorizationServer.listen(0, '127.0.0.1', resolve))
const issuer = `http://127.0.0.1:${authorizationServer.address().port}`

// Accepts the tokens of the authorization server that are meant for one address.
const verifyFor = audience =>
  verifier(
    token => {
      const known = tokens.get(token)
      return known?.audience === audience() ? { id: known.user } : undefined
    },
    { name: 'toy', issuers: [issuer] },
  )

// The server behind the router has notes of each user.
const server = new Server({ name: 'notes', version: '1.0.0' })
server.tool('list', {}, (_, { caller }) => `the notes of ${caller.principal.id}`)
const upstream = await listen(server, 'http://127.0.0.1:0/mcp', {
  auth: { verify: verifyFor(() => upstream.address) },
})

const router = new Router({
  servers: {
    notes: {
      url: upstream.address,
      auth: exchange({
        tokenEndpoint: `${issuer}/token`,
        clientId: 'router',
        clientSecret: 'a secret of the router',
      }),
    },
  },
})
const listener = await listen(router, 'http://127.0.0.1:0/mcp', {
  auth: { verify: verifyFor(() => listener.address) },
})

for (const user of ['ada', 'bob']) {
  const client = await connect(listener.address, { auth: bearer(issue(user, listener.address)) })
  const { text: notes } = await client.call('notes__list')
  assert.equal(notes, `the notes of toy:${user}`)
  console.log(notes)
  await client.close()
}

// The server does not accept the token that a caller sends to the router.
const direct = await connect(upstream.address, {
  auth: bearer(issue('ada', listener.address)),
}).catch(error => error)
assert.equal(direct.code, 'refused')

await listener.close()
await router.close()
await upstream.close()
authorizationServer.close()
authorizationServer.closeAllConnections()
