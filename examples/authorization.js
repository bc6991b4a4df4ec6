// A server that requires authorization, a client that logs its user in, and a tool that needs one more scope.

import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { connect, listen, Server } from 'trunkline'
import { bearer, oauth, verifier } from 'trunkline/auth'

// A toy authorization server, at which every client is welcome and the user agrees to everything. Use a real one.
const codes = new Map()
const tokens = new Map()
const pages = {
  '/.well-known/oauth-authorization-server': () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }),
  '/register': () => ({ client_id: randomUUID() }),
  '/authorize': ({ query }) => {
    const code = randomUUID()
    codes.set(code, query)
    const back = new URL(query.get('redirect_uri'))
    back.search = new URLSearchParams({ code, state: query.get('state'), iss: issuer })
    return back
  },
  '/token': ({ form }) => {
    const query = codes.get(form.get('code'))
    codes.delete(form.get('code'))
    const digest = createHash('sha256').update(form.get('code_verifier')).digest('base64url')
    assert.equal(digest, query.get('code_challenge'))
    const token = randomUUID()
    const scope = query.get('scope')
    tokens.set(token, { scopes: scope.split(' '), audience: query.get('resource') })
    return { access_token: token, token_type: 'Bearer', expires_in: 3600, scope }
  },
}
const authorizationServer = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, issuer)
  const form = new URLSearchParams(await text(request))
  const answer = pages[pathname]?.({ query: searchParams, form })
  if (answer instanceof URL) response.writeHead(302, { location: answer.href }).end()
  else response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer))
})
await new Promise(resolve => authorizationServer.listen(0, '127.0.0.1', resolve))
const issuer = `http://127.0.0.1:${authorizationServer.address().port}`

// The server: a tool for everybody who is logged in, and one that needs a further scope.
const server = new Server({ name: 'notes', version: '1.0.0' })
server.tool('list', {}, (_, { caller }) => `the notes of ${caller.principal.id}`)
server.tool('purge', { auth: { scopes: ['notes:write'] } }, () => 'purged')
const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
  auth: {
    authorizationServers: [issuer],
    scopes: ['notes:read'],
    verify: verifier(
      token => {
        const known = tokens.get(token)
        if (known?.audience !== listener.address) return undefined
        return { id: 'ada', scopes: known.scopes }
      },
      { name: 'toy' },
    ),
  },
})

// The client. By default `open` starts the browser, and `redirect: loopback()` waits for it to return.
const asked = []
const auth = oauth({
  redirect: 'http://127.0.0.1:1/callback',
  open: async page => {
    asked.push(page.searchParams.get('scope'))
    const { headers } = await fetch(page, { redirect: 'manual' })
    return new URL(headers.get('location'))
  },
})
const client = await connect(listener.address, { auth })
console.log((await client.call('list')).text)
console.log((await client.call('purge')).text)
assert.deepEqual(asked, ['notes:read', 'notes:read notes:write'])
await client.close()

// A token that the server does not know: the error says what is wrong.
const stranger = await connect(listener.address, { auth: bearer('guess') }).catch(error => error)
assert.equal(stranger.code, 'refused')
assert.equal(stranger.cause.code, 'denied')
console.log(stranger.message)

await listener.close()
authorizationServer.close()
authorizationServer.closeAllConnections()
