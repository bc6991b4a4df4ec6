import { createServer, type IncomingMessage, type Server as NodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Client, openClient } from '../src/client/client.ts'
import type { ClientOptions } from '../src/client/options.ts'
import { httpChannel } from '../src/http/client/channel.ts'
import { connect, listen, Server } from '../src/index.ts'
import { ChannelError } from '../src/jsonrpc/channel.ts'
import { proves } from './requirements.ts'
import { Owned } from './support/channel.ts'
import {
  bare,
  Events,
  fakeFetch,
  type ReceivedRequest,
  refuse,
  reply,
  type Script,
  settle,
} from './support/fake-fetch.ts'

const owned = new Owned()
afterEach(() => owned.closeAll())

const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
}
const initialized = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 's', version: '1' },
}

/** Opens a client of a scripted server over HTTP. */
async function open(script: Script, options: ClientOptions = {}) {
  const { fetch, received } = fakeFetch(script)
  const onError = () => {}
  const url = new URL('http://localhost:1/mcp')
  const dial = async () => httpChannel(url, { fetch, onError })
  const client = await openClient(dial, { onError, reconnect: false, ...options })
  owned.add(client)
  return { client, received }
}

const methodsOf = (received: readonly ReceivedRequest[]) =>
  received.map(one => one.body?.method ?? one.method)

/** Answers by method; refuses GET, and accepts messages that need no response. */
function answers(
  table: Record<string, (received: ReceivedRequest) => Response | Promise<Response>>,
): Script {
  return received => {
    if (received.method === 'GET') return bare(405)
    const answer = table[received.body?.method]
    if (answer !== undefined) return answer(received)
    return received.body?.id === undefined ? bare(202) : reply(received)
  }
}

describe('detecting the revision of a server over HTTP', () => {
  test('a server that answers server/discover is stateless, and gets headers with every request', async () => {
    const { client, received } = await open(
      answers({ 'server/discover': one => reply(one, discovered) }),
    )
    expect(client.server.revision.era).toBe('stateless')
    expect(received[0]?.headers.get('mcp-method')).toBe('server/discover')
    expect(received[0]?.headers.get('mcp-protocol-version')).toBe('2026-07-28')
  })

  test.each([
    ['404', () => bare(404)],
    ['400 with an error', (one: ReceivedRequest) => refuse(one, 400, -32000)],
    ['404 with an error', (one: ReceivedRequest) => refuse(one, 404, -32601)],
    ['405', () => bare(405)],
    ['a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['a result of another shape', (one: ReceivedRequest) => reply(one, {})],
  ])('a server that answers server/discover with %s has sessions', async (_, answer) => {
    proves('N16b')
    const script = answers({
      'server/discover': answer,
      initialize: one => reply(one, initialized, { 'mcp-session-id': 's' }),
    })
    const { client, received } = await open(script)
    expect(client.server.revision.name).toBe('2025-11-25')
    expect(methodsOf(received).slice(0, 2)).toEqual(['server/discover', 'initialize'])
  })

  test('a server that supports only other revisions is received in one of them', async () => {
    proves('N16')
    let count = 0
    const script = answers({
      'server/discover': one =>
        count++ === 0
          ? refuse(one, 400, -32022, { supported: ['2026-07-28'], requested: '2026-07-28' })
          : reply(one, discovered),
    })
    const { client, received } = await open(script)
    expect(client.server.revision.era).toBe('stateless')
    expect(methodsOf(received)).not.toContain('initialize')
  })

  test.each([
    ['401', () => bare(401), 'refused'],
    ['403 with an error', (one: ReceivedRequest) => refuse(one, 403, -32000), 'refused'],
    ['429', (one: ReceivedRequest) => refuse(one, 429, -32000), 'refused'],
    ['500 with an error', (one: ReceivedRequest) => refuse(one, 500, -32603), 'refused'],
    ['503', () => bare(503), 'refused'],
    ['a redirect elsewhere', () => bare(307, { location: 'http://evil.test' }), 'refused'],
    ['a broken connection', () => Promise.reject(new TypeError('fetch failed')), 'refused'],
    ['silence', () => new Promise<Response>(() => {}), 'timeout'],
  ])('%s is an outage, and does not start a session', async (_, answer, code) => {
    const { fetch, received } = fakeFetch(answers({ 'server/discover': answer }))
    const dial = async () => httpChannel(new URL('http://localhost:1/mcp'), { fetch })
    const opening = openClient(dial, { timeoutMs: 50, onError: () => {} })
    await expect(opening).rejects.toMatchObject({ name: 'ChannelError', code })
    expect(methodsOf(received)).toEqual(['server/discover'])
  })

  test('a refused connection is reported with its reason', async () => {
    const { port, close } = await bound(createServer())
    await close()
    const opening = connect(`http://127.0.0.1:${port}/mcp`)
    await expect(opening).rejects.toThrow(/opening: .*ECONNREFUSED/)
    await expect(opening).rejects.toMatchObject({ code: 'refused' })
  })
})

describe('a stateless client over HTTP', () => {
  const discover = { 'server/discover': (one: ReceivedRequest) => reply(one, discovered) }

  test('cancels by closing the response, however the call is aborted', async () => {
    proves('N7d')
    const events: Events[] = []
    const script = answers({
      ...discover,
      'tools/call': ({ signal }) => {
        events.push(new Events(signal))
        return events.at(-1)?.response ?? bare(500)
      },
    })
    const { client, received } = await open(script)
    const stop = new AbortController()
    const aborted = client.call('wait', {}, { signal: stop.signal })
    // Handled at once, because a busy machine may be later than the timeouts.
    const timedOut = (options: object) =>
      expect(client.call('wait', {}, options)).rejects.toMatchObject({ code: 'timeout' })
    const late = timedOut({ timeoutMs: 300 })
    // A call that subscribes to progress is aborted on a different code path.
    const lateToo = timedOut({ timeoutMs: 300, onProgress: () => {} })
    while (events.length < 3) await settle()
    stop.abort('changed my mind')
    await expect(aborted).rejects.toBe('changed my mind')
    await late
    await lateToo
    await settle()
    expect(events.map(({ isLeft }) => isLeft)).toEqual([true, true, true])
    expect(methodsOf(received)).not.toContain('notifications/cancelled')
  })

  test('closes the responses when it closes, and rejects pending calls with "closed"', async () => {
    const events: Events[] = []
    const script = answers({
      ...discover,
      'tools/call': ({ signal }) => {
        events.push(new Events(signal))
        return events.at(-1)?.response ?? bare(500)
      },
    })
    const { client, received } = await open(script)
    const call = client.call('wait').catch(error => error)
    while (events.length < 1) await settle()
    await client.close()
    expect(await call).toMatchObject({ code: 'closed' })
    await settle()
    expect(events[0]?.isLeft).toBe(true)
    expect(methodsOf(received)).toEqual(['server/discover', 'tools/call'])
  })

  test('retries requests that change nothing, and never those that may have been executed', async () => {
    let isBroken = true
    const breaks = (one: ReceivedRequest) => {
      if (!isBroken) return reply(one, { tools: [], contents: [] })
      isBroken = false
      return Promise.reject(new TypeError('terminated'))
    }
    const script = answers({ ...discover, 'tools/list': breaks, 'tools/call': breaks })
    const { client, received } = await open(script)
    for await (const tool of client.tools()) expect(tool).toBeUndefined()
    isBroken = true
    await expect(client.call('pay')).rejects.toMatchObject({ code: 'outcome-unknown' })
    const counts = (method: string) => methodsOf(received).filter(one => one === method).length
    expect([counts('tools/list'), counts('tools/call')]).toEqual([2, 1])
  })

  test('subscribes again when only the stream of changes breaks', async () => {
    const streams: Events[] = []
    const script = answers({
      ...discover,
      'subscriptions/listen': ({ body, signal }) => {
        const events = new Events(signal)
        streams.push(events)
        const _meta = { 'io.modelcontextprotocol/subscriptionId': body.id }
        return events.message({
          method: 'notifications/subscriptions/acknowledged',
          params: { notifications: { toolsListChanged: true }, _meta },
        }).response
      },
    })
    const reconnect = { attempts: 3, baseMs: 1, random: () => 0 }
    const { client } = await open(script, { reconnect })
    const changes = client.changes({ tools: true })
    await changes.ready
    streams[0]?.break()
    expect(await changes.next()).toMatchObject({ value: { type: 'reconnected' } })
    expect(streams).toHaveLength(2)
    await changes.return()
    await settle()
    expect(streams[1]?.isLeft).toBe(true)
  })
})

test('a lost session is opened again, and the request that was rejected for it is sent again', async () => {
  let sessions = 0
  const script = answers({
    initialize: one => reply(one, initialized, { 'mcp-session-id': `s${++sessions}` }),
    'tools/call': one =>
      one.headers.get('mcp-session-id') === 's1' ? bare(404) : reply(one, { content: [] }),
  })
  const { client, received } = await open(script, { era: 'session', reconnect: { attempts: 3 } })
  const results = await Promise.all([client.call('pay'), client.call('pay'), client.call('pay')])
  expect(results).toHaveLength(3)
  expect(sessions).toBe(2)
  expect(methodsOf(received).filter(one => one === 'tools/call')).toHaveLength(6)
})

describe.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const)(
  'our client and our server over HTTP in %s',
  revision => {
    async function pair(server: Server, options = {}): Promise<Client> {
      const listener = owned.add(await listen(server, 'http://127.0.0.1:0/mcp'))
      const client = await connect(listener.address, { revisions: [revision], ...options })
      return owned.add(client)
    }

    test('call tools, and report progress and changes', async () => {
      const server = new Server({ name: 'travel', version: '1.0.0' })
      server.tool('greet', { input: z.object({ name: z.string() }) }, async ({ name }, ctx) => {
        ctx.progress(1, 2)
        return `hello ${name}`
      })
      const client = await pair(server)
      const steps: number[] = []
      const onProgress = ({ progress }: { progress: number }) => void steps.push(progress)
      const answer = await client.call('greet', { name: 'wörld' }, { onProgress })
      expect(answer.text).toBe('hello wörld')
      expect(steps).toEqual([1])
      expect(client.server.revision.name).toBe(revision)
      const changes = client.changes({ tools: true })
      await changes.ready
      const changed = changes.next()
      // In a session the client opens the standalone stream a little later.
      for (let n = 0; n < 5000 && (await Promise.race([changed, settle()])) === undefined; n++) {
        if (n % 50 === 0) server.tool(`later-${n}`, {}, () => 'x')
      }
      expect(await changed).toMatchObject({ value: { type: 'tools' } })
      await changes.return()
    })
  },
)

describe('over real connections', () => {
  test('requests share keep-alive connections', async () => {
    const ports = new Set<number | undefined>()
    const server = createServer((request, response) => {
      ports.add(request.socket.remotePort)
      void read(request).then(body => {
        const text = JSON.stringify({ jsonrpc: '2.0', id: body.id, result: { n: body.id } })
        const isStream = body.id % 2 === 0
        const type = isStream ? 'text/event-stream' : 'application/json'
        response.writeHead(200, { 'content-type': type })
        response.end(isStream ? `data: ${text}\n\n` : text)
      })
    })
    const { port } = await bound(server)
    const peer = owned.add(await connect(`http://127.0.0.1:${port}/`, { protocol: 'jsonrpc' }))
    for (let n = 1; n <= 10; n++) expect(await peer.call('n')).toEqual({ n })
    // A response on an event stream arrives before its end, and the next call does not wait for that end.
    expect(ports.size).toBeLessThanOrEqual(2)
  })

  test('a connection that is cut in the middle of a response fails that call alone', async () => {
    const server = createServer((request, response) => {
      void read(request).then(body => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        if (body.id !== 1) response.end(`data: {"jsonrpc":"2.0","id":${body.id},"result":{}}\n\n`)
        else response.write('data: {"jsonrpc"', () => response.destroy())
      })
    })
    const { port } = await bound(server)
    const peer = owned.add(await connect(`http://127.0.0.1:${port}/`, { protocol: 'jsonrpc' }))
    await expect(peer.call('n')).rejects.toBeInstanceOf(ChannelError)
    expect(await peer.call('n')).toEqual({})
  })

  test('plain JSON-RPC calls and batches get their results', async () => {
    const methods = { sum: (a: number, b: number) => a + b }
    const address = 'http://127.0.0.1:0/rpc'
    const listener = owned.add(await listen(methods, address, { protocol: 'jsonrpc' }))
    const peer = owned.add(await connect(listener.address, { protocol: 'jsonrpc' }))
    expect(await peer.call('sum', [1, 2])).toBe(3)
    expect(await peer.batch(b => [b.call('sum', [1, 1]), b.call('sum', [2, 2])])).toEqual([2, 4])
  })
})

// biome-ignore lint/suspicious/noExplicitAny: tests inspect the request member by member
async function read(request: IncomingMessage): Promise<any> {
  let text = ''
  for await (const piece of request) text += piece
  return JSON.parse(text)
}

async function bound(server: NodeServer): Promise<{ port: number; close(): Promise<void> }> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise<unknown>(resolve => server.close(resolve))
  }
  owned.add({ [Symbol.asyncDispose]: close })
  // The cast is safe: the server is bound to a port.
  const { port } = server.address() as AddressInfo
  return { port, close }
}
