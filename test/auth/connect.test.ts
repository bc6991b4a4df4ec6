import { expect, test } from 'vitest'
import { bearer, type Credentials, memoryStore, oauth } from '../../src/auth/index.ts'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { authorizationServer } from '../support/authorization-server.ts'

const server = new Server({ name: 'plain', version: '1' })
const auth = bearer('key')

test.each<readonly [string, () => Promise<unknown>]>([
  ['a server of this process', () => connect(server, { auth })],
  ['standard input and output', () => connect('stdio:', { auth })],
  ['a program', () => connect({ command: 'node' }, { auth })],
  ['several servers', () => connect({ mcpServers: {} }, { auth })],
  ['the header', () => connect('http://127.0.0.1:1/', { auth, headers: { Authorization: 'x' } })],
  [
    'the header of HTTP',
    () => connect('http://127.0.0.1:1/', { auth, http: { headers: { authorization: 'x' } } }),
  ],
  // The check: each of these is invalid on purpose.
  ['another word', () => connect('http://127.0.0.1:1/', { auth: 'store' as 'stored' })],
  ['no credentials', () => connect('http://127.0.0.1:1/', { auth: {} as Credentials })],
])('auth with %s is a TypeError', async (_, connecting) => {
  await expect(connecting()).rejects.toThrow(TypeError)
})

test('a failed authorization is the cause of the error of connect', async () => {
  const as = await authorizationServer()
  as.metadata.code_challenge_methods_supported = ['plain']
  const user = oauth({ redirect: 'http://127.0.0.1:9/', open: as.open, store: memoryStore() })
  await expect(connect(as.url.href, { auth: user })).rejects.toMatchObject({
    name: 'ChannelError',
    code: 'refused',
    cause: { name: 'AuthError', code: 'no-pkce', issuer: as.origin },
  })
  await as.close()
})

test('a redirect of the server to another origin never gets the token', async () => {
  const as = await authorizationServer()
  const other = await authorizationServer()
  as.routes.set('/mcp', () => ({ status: 307, headers: { location: other.url.href } }))
  await expect(connect(as.url.href, { auth: bearer('key') })).rejects.toThrow(/redirect/)
  expect(other.seen).toEqual([])
  await as.close()
  await other.close()
})

test('credentials of any kind authorize every request, also of plain JSON-RPC', async () => {
  const sent: string[] = []
  const methods = { ping: () => 'pong' }
  await using listener = await listen(methods, 'http://127.0.0.1:0/rpc', { protocol: 'jsonrpc' })
  const own: Credentials = {
    identity: 'me',
    headers: ({ method, url }) => {
      sent.push(`${method} ${url.pathname}`)
      return { authorization: 'Custom x' }
    },
    refused: async () => false,
  }
  await using peer = await connect(listener.address, { protocol: 'jsonrpc', auth: own })
  expect(await peer.call('ping')).toBe('pong')
  expect(sent).toContain('POST /rpc')
})
