import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { AuthOptions } from '../../src/auth/index.ts'
import { jwt } from '../../src/auth/index.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { deferred } from '../../src/util/promises.ts'
import { tokenIssuer } from '../support/issuer.ts'

const resource = 'https://tools.example.com/mcp'
const as = await tokenIssuer()
const lifetimeMs = 2000

const cleanUps: (() => unknown)[] = []
beforeEach(() => {
  // Only what expiry depends on: sockets have timers of their own.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  vi.setSystemTime(Date.UTC(2026, 10, 17))
})
afterEach(async () => {
  vi.useRealTimers()
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const token = () => as.token({ claims: { exp: (Date.now() + lifetimeMs) / 1000 } })

async function serve(options: Partial<AuthOptions> = {}) {
  const started = deferred<void>()
  const held = deferred<void>()
  const server = new Server({ name: 'guarded', version: '1' })
  server.tool('slow', {}, async () => {
    started.resolve()
    await held.promise
    return 'done'
  })
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
    auth: { resource, verify: jwt({ issuer: as.issuer, jwks: as.jwks }), ...options },
  })
  cleanUps.push(() => server.close())
  cleanUps.push(() => listener.close())
  return { url: listener.address, started, held }
}

interface Asked {
  readonly message?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends with `node:http`, which uses no global timer: `fetch` does, and this file replaces those. */
async function send(url: string, { message, headers = {} }: Asked = {}): Promise<Response> {
  const sent = request(url, {
    method: message === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      ...(message && { 'content-type': 'application/json' }),
      ...headers,
    },
  })
  sent.end(message && JSON.stringify({ jsonrpc: '2.0', ...message }))
  const [incoming] = (await once(sent, 'response')) as [IncomingMessage]
  return new Response(Readable.toWeb(incoming) as ReadableStream, {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers as Record<string, string>,
  })
}

const initialize = {
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
}
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const stateless = (method: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
})
const subscribe = {
  id: 1,
  method: 'subscriptions/listen',
  params: { notifications: { toolsListChanged: true }, _meta },
}
const slow = { id: 2, method: 'tools/call', params: { name: 'slow', _meta } }

async function openSession(url: string, authorization: string): Promise<string> {
  const response = await send(url, { message: initialize, headers: { authorization } })
  await response.body?.cancel()
  return response.headers.get('mcp-session-id') ?? ''
}

/** The streams of every era. */
const streams = {
  'the stream of a session': async (url: string, authorization: string) =>
    send(url, {
      headers: { authorization, 'mcp-session-id': await openSession(url, authorization) },
    }),
  'a subscription': (url: string, authorization: string) =>
    send(url, {
      message: subscribe,
      headers: { authorization, ...stateless('subscriptions/listen') },
    }),
  'the stream of 2024-11-05': (url: string, authorization: string) =>
    send(String(new URL('/sse', url)), { headers: { authorization } }),
}

test.each(Object.entries(streams))(
  '%s ends when the token of its caller expires',
  async (_, open) => {
    const { url } = await serve()
    const response = await open(url, `Bearer ${await token()}`)
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream',
    ])
    let hasEnded = false
    const ended = response.text().then(() => {
      hasEnded = true
    })
    vi.advanceTimersByTime(lifetimeMs - 1)
    // A request and its response, in which the end of the stream would have arrived too.
    await send(url)
    expect(hasEnded).toBe(false)
    vi.advanceTimersByTime(1)
    await ended
  },
)

test('a session continues with another token after its stream has ended', async () => {
  const { url } = await serve()
  const authorization = `Bearer ${await token()}`
  const session = await openSession(url, authorization)
  const stream = await send(url, { headers: { authorization, 'mcp-session-id': session } })
  vi.advanceTimersByTime(lifetimeMs)
  await stream.text()
  const renewed = { authorization: `Bearer ${await token()}`, 'mcp-session-id': session }
  const ping = await send(url, { message: { id: 5, method: 'ping' }, headers: renewed })
  expect(ping.status).toBe(200)
  await ping.text()
  const next = await send(url, { headers: renewed })
  expect(next.status).toBe(200)
  await next.body?.cancel()
})

test('streams last until they are closed where the options say so', async () => {
  const { url } = await serve({ streams: 'until-closed' })
  for (const open of Object.values(streams)) {
    const response = await open(url, `Bearer ${await token()}`)
    const timers = vi.getTimerCount()
    vi.advanceTimersByTime(lifetimeMs)
    expect(vi.getTimerCount()).toBe(timers)
    await response.body?.cancel()
  }
})

test('a call in flight finishes after its token has expired', async () => {
  const { url, started, held } = await serve()
  const headers = {
    authorization: `Bearer ${await token()}`,
    ...stateless('tools/call'),
    'mcp-name': 'slow',
  }
  const calling = send(url, { message: slow, headers })
  await started.promise
  vi.advanceTimersByTime(lifetimeMs + 60_000)
  held.resolve()
  const response = await calling
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('done')
  expect((await send(url, { message: slow, headers })).status).toBe(401)
})

test('a WebSocket accepts no request after the token has expired, and closes when those in flight had time', async () => {
  const { url, started, held } = await serve()
  const socket = new WebSocket(url.replace('http:', 'ws:'), {
    headers: { authorization: `Bearer ${await token()}` },
  })
  cleanUps.push(() => socket.terminate())
  await once(socket, 'open')
  const message = async () => JSON.parse(String((await once(socket, 'message'))[0]))
  socket.send(JSON.stringify({ jsonrpc: '2.0', ...slow }))
  await started.promise
  vi.advanceTimersByTime(lifetimeMs)
  const refused = message()
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'tools/list', params: { _meta } }))
  expect(await refused).toMatchObject({ id: 3, error: { data: { kind: 'token_expired' } } })
  const finished = message()
  held.resolve()
  expect(await finished).toMatchObject({ id: 2, result: { content: [{ text: 'done' }] } })
  const closed = once(socket, 'close')
  vi.advanceTimersByTime(limits.expiredDrainMs.default)
  await closed
})
