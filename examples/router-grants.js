// A router whose users grant it access to a server: each on a page, in the browser, at the authorization server of the server.

import assert from 'node:assert/strict'
import { connect, listen, Server } from 'trunkline'
import { bearer, connectPages, userGrants } from 'trunkline/auth'
import { Router } from 'trunkline/router'
import { devIssuer } from 'trunkline/testing'

// Two authorization servers, for development: that of the callers of the router, and that of the server.
const users = [{ sub: 'ada' }, { sub: 'bob' }]
const redirectUris = []
const front = await devIssuer({ users, clients: [{ clientId: 'router-pages', redirectUris }] })
const back = await devIssuer({ users })

// The server behind the router accepts only the tokens of its own authorization server.
const server = new Server({ name: 'notes', version: '1.0.0' })
server.tool('list', {}, (_, { caller }) => `the notes of ${caller.principal.subject}`)
const upstream = await listen(server, 'http://127.0.0.1:0/mcp', {
  auth: { verify: back.verifier() },
})

// Browsers log in at the authorization server of the callers, so that the pages know whose browser visits them.
const pages = connectPages({
  login: { issuer: front.issuer, clientId: 'router-pages' },
})
const router = new Router({
  servers: { notes: { url: upstream.address, auth: userGrants({ pages, name: 'notes' }) } },
})
const listener = await listen(router, 'http://127.0.0.1:0/mcp', {
  auth: { verify: front.verifier() },
  pages,
})
redirectUris.push(new URL('/connect/login', listener.address).href)

// Does what the browser of a user does. Resolves to the status and the text of the last page.
async function visit(link, user) {
  const cookies = new Map()
  const open = async (url, init = {}) => {
    const cookie = Array.from(cookies, pair => pair.join('=')).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie }, ...init })
    for (const line of response.headers.getSetCookie())
      cookies.set(...line.split(';')[0].split('='))
    const location = response.headers.get('location')
    return { status: response.status, text: await response.text(), location, cookie }
  }
  const login = await open(link)
  const consent = await open(await front.browser(user)(new URL(login.location)))
  if (consent.status !== 200) return consent
  const [, csrf] = /name="csrf" value="([^"]+)"/.exec(consent.text)
  const approved = await open(link, {
    method: 'POST',
    body: new URLSearchParams({ csrf }),
    headers: { cookie: consent.cookie },
  })
  return open(await back.browser(user)(new URL(approved.location)))
}

// Ada's client shows her the page, and calls again when she has been there.
const links = []
const elicit = {
  url: async ({ message, url }) => {
    console.log(message.replace(/127[.:\d]+/, 'the authorization server'))
    links.push(url)
    const { status } = await visit(url, 'ada')
    return { action: status === 200 ? 'accept' : 'cancel' }
  },
}
const tokenOf = sub => front.token({ sub, audience: listener.address })
const ada = await connect(listener.address, { auth: bearer(await tokenOf('ada')), elicit })
console.log((await ada.call('notes__list')).text)
assert.equal((await ada.call('notes__list')).text, 'the notes of ada')
assert.equal(links.length, 1)
await ada.close()

// Bob's client cannot show pages: he gets the link as text. If he has ada open it, the page refuses her.
const bob = await connect(listener.address, { auth: bearer(await tokenOf('bob')) })
const { text, isError } = await bob.call('notes__list')
assert.equal(isError, true)
const [link] = /http\S+$/.exec(text)
assert.equal((await visit(link, 'ada')).status, 403)
assert.equal((await visit(link, 'bob')).status, 200)
console.log((await bob.call('notes__list')).text)
await bob.close()

await listener.close()
await router.close()
await upstream.close()
await server.close()
await front.close()
await back.close()
