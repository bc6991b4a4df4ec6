import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import type { AuthOptions } from '../../src/auth/index.ts'
import { apiKeys, bearer, memoryStore, newApiKey, oauth } from '../../src/auth/index.ts'
import { connect } from '../../src/connect.ts'
import type { Peer } from '../../src/jsonrpc/peer/peer.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { devIssuer } from '../../src/testing/dev-issuer/dev-issuer.ts'
import { deferred } from '../../src/util/promises.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const { key, record } = await newApiKey('ada', { scopes: ['notes:read'] })

async function serve(options: Partial<AuthOptions> = {}, address = 'tcp://127.0.0.1:0') {
  const server = new Server({ name: 'guarded', version: '1' })
  server.tool('who', {}, (_, ctx) => String(ctx.caller.principal?.id))
  server.tool('purge', { auth: { scopes: ['notes:write'] } }, () => 'purged')
  const listener = await listen(server, address, {
    auth: { verify: apiKeys({ keys: [record] }), ...options },
  })
  cleanUps.push(() => server.close())
  cleanUps.push(() => listener.close())
  return listener.address
}

/** Sends lines to a server, and returns those that it answers until it closes the connection. */
async function talk(address: string, lines: readonly object[], end = false) {
  const { hostname, port } = new URL(address)
  const socket = connectSocket(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(lines.map(line => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join(''))
  if (end) socket.end()
  const answers: unknown[] = []
  for await (const line of createInterface({ input: socket })) answers.push(JSON.parse(line))
  socket.destroy()
  return answers
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const authenticate = (id: number, credentials: string) => ({
  id,
  method: 'trunkline/authenticate',
  params: { scheme: 'Bearer', credentials },
})
const list = (id: number) => ({ id, method: 'tools/list', params: { _meta: meta } })
const call = (id: number, name: string) => ({
  id,
  method: 'tools/call',
  params: { name, _meta: meta },
})

describe('over TCP', () => {
  test('a client sends its key first, and has its principal', async () => {
    const address = await serve()
    const { hostname, port } = new URL(address)
    const socket = connectSocket(Number(port), hostname)
    cleanUps.push(() => socket.destroy())
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
    const ask = async (message: object) => {
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
      return JSON.parse((await lines.next()).value)
    }
    expect(await ask(authenticate(1, key))).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    expect(await ask(call(2, 'who'))).toMatchObject({ result: { content: [{ text: 'key:ada' }] } })
    expect(await ask(call(3, 'purge'))).toMatchObject({
      error: { data: { kind: 'insufficient_permissions', scopes: ['notes:write'] } },
    })
  })

  test.each([
    ['a wrong key', authenticate(1, `${key.slice(0, -1)}_`), 'invalid_token'],
    ['another message first', list(1), 'authentication_failed'],
    ['no scheme', { id: 1, method: 'trunkline/authenticate' }, 'authentication_failed'],
  ])('%s is answered once, and the connection closed', async (_, first, kind) => {
    expect(await talk(await serve(), [first])).toMatchObject([
      { id: 1, error: { code: -32000, data: { kind } } },
    ])
  })

  test('a connection has one check at a time', async () => {
    const many = Array.from({ length: 100 }, (_, id) => authenticate(id, `tlk_wrong${id}`))
    expect((await talk(await serve(), many)).length).toBeLessThan(2)
  })

  test('an anonymous caller may use the methods that are open to everybody, and no others', async () => {
    const address = await serve({ anonymous: { methods: ['tools/list'] } })
    const [listed] = await talk(address, [list(1)], true)
    expect(listed).toMatchObject({ id: 1, result: { tools: [{ name: 'who' }, { name: 'purge' }] } })
    const [refused] = await talk(address, [call(2, 'who')], true)
    expect(refused).toMatchObject({ id: 2, error: { data: { kind: 'authentication_failed' } } })
  })
})

describe('a client over a socket', () => {
  const kinds = process.platform === 'win32' ? ['tcp'] : ['tcp', 'unix']

  test.each(kinds)('sends its token first (%s)', async kind => {
    const folder = await mkdtemp(join(tmpdir(), 'socket-'))
    cleanUps.push(() => rm(folder, { recursive: true }))
    const address = await serve({}, kind === 'tcp' ? undefined : `unix:${join(folder, 'a b.sock')}`)
    await using client = await connect(address, { auth: bearer(key) })
    expect((await client.call('who', {})).text).toBe('key:ada')
  })

  test('sends its token first in plain JSON-RPC, and loses nothing that the server sends', async () => {
    const auth = { verify: apiKeys({ keys: [record] }) }
    const onPeer = (peer: Peer) => void peer.notify('hello')
    const methods = { ping: () => 'pong' }
    await using listener = await listen(methods, 'tcp://127.0.0.1:0', {
      protocol: 'jsonrpc',
      auth,
      onPeer,
    })
    const greeted = deferred<void>()
    await using peer = await connect(listener.address, {
      protocol: 'jsonrpc',
      auth: bearer(key),
      methods: { hello: () => greeted.resolve() },
    })
    expect(await peer.call('ping')).toBe('pong')
    await greeted.promise
  })

  test('connects again with another token after a refusal', async () => {
    const tokens = [`${key.slice(0, -1)}_`]
    const auth = bearer(() => tokens.shift() ?? key)
    await using client = await connect(await serve(), { auth })
    expect((await client.call('who', {})).text).toBe('key:ada')
  })

  test('fails with the reason if its token is refused', async () => {
    const auth = bearer(`${key.slice(0, -1)}_`)
    await expect(connect(await serve(), { auth })).rejects.toMatchObject({
      name: 'ChannelError',
      code: 'refused',
      cause: { name: 'AuthError', code: 'denied' },
    })
  })

  test('fails without a token, and at a server that authenticates nobody', async () => {
    const open = await listen(new Server({ name: 'open', version: '1' }), 'tcp://127.0.0.1:0')
    cleanUps.push(() => open.close())
    await expect(connect(open.address, { auth: bearer(key) })).rejects.toThrow(/leave "auth" out/)
    const auth = oauth({ store: memoryStore() })
    await expect(connect(open.address, { auth })).rejects.toThrow(/use bearer\(token\)/)
  })
})

describe('over HTTP+SSE', () => {
  /** Opens the event stream of 2024-11-05, and returns the address for messages. */
  async function pair(options: Partial<AuthOptions>, headers: Record<string, string> = {}) {
    const server = new Server({ name: 'guarded', version: '1' })
    server.tool('who', {}, () => 'somebody')
    const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
      auth: { verify: apiKeys({ keys: [record] }), ...options },
    })
    cleanUps.push(() => server.close())
    cleanUps.push(() => listener.close())
    const leave = new AbortController()
    cleanUps.push(() => leave.abort())
    const response = await fetch(new URL('/sse', listener.address), {
      headers: { accept: 'text/event-stream', ...headers },
      signal: leave.signal,
    })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    const { value = '' } = (await reader?.read()) ?? {}
    const messages = new URL(/data: (\S+)/.exec(value)?.[1] ?? '', listener.address)
    return (body: object, more: Record<string, string> = headers) =>
      fetch(messages, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...more },
        body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      })
  }

  test('an anonymous caller may use only the methods that are open to everybody', async () => {
    const post = await pair({ anonymous: { methods: ['ping'] } })
    expect((await post({ id: 1, method: 'ping' })).status).toBe(202)
    const refused = await post(call(2, 'who'))
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })

  test.each([undefined, 'https://tools.example.com/mcp'])(
    'a user logs in at the address of the events (resource: %s)',
    async resource => {
      const issuer = await devIssuer()
      cleanUps.push(() => issuer.close())
      const server = new Server({ name: 'guarded', version: '1' })
      server.tool('who', {}, (_, ctx) => String(ctx.caller.principal?.subject))
      const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
        auth: { verify: issuer.verifier(), scopes: ['notes'], ...(resource && { resource }) },
      })
      cleanUps.push(() => server.close())
      cleanUps.push(() => listener.close())
      const url = new URL('/sse', listener.address).href
      const { status, headers } = await fetch(url, { headers: { accept: 'text/event-stream' } })
      const known = new URL('/sse', resource ?? listener.address)
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toContain(
        `resource_metadata="${known.origin}/.well-known/oauth-protected-resource/sse"`,
      )
      const document = await fetch(new URL('/.well-known/oauth-protected-resource/sse', url))
      expect(await document.json()).toMatchObject({ resource: known.href })
      if (resource !== undefined) return
      const open = issuer.browser()
      await using client = await connect(url, {
        auth: oauth({ redirect: 'http://127.0.0.1:9/callback', open, store: memoryStore() }),
      })
      expect((await client.call('who', {})).text).toBe('ada')
    },
  )

  test('a method needs its scopes, and a session its principal', async () => {
    const post = await pair(
      { methods: { 'tools/call': ['mcp:call'] } },
      { authorization: `Bearer ${key}` },
    )
    const refused = await post(call(1, 'who'))
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="mcp:call"',
    ])
    expect((await post({ id: 2, method: 'ping' }, {})).status).toBe(401)
  })
})
