import { once } from 'node:events'
import { createServer as createHttpServer, request as httpRequest } from 'node:http'
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { fetchHandler, nodeHandler } from '../../src/http/handlers.ts'
import { RpcError } from '../../src/jsonrpc/error.ts'
import type { ListenOptions } from '../../src/listen.ts'
import { listen } from '../../src/listen.ts'
import type { Router } from '../../src/router/index.ts'
import type { UpstreamOptions } from '../../src/router/options.ts'
import { Server } from '../../src/server/server.ts'
import { isRecord } from '../../src/util/objects.ts'
import { stateless } from '../support/fake-fetch.ts'
import { pollOptions } from '../support/poll-options.ts'
import { caller, failureOf, routed } from './routed.ts'
import { overWebSocket } from './routed-wires.ts'

describe('a server over HTTP', () => {
  test('advertises WebSockets in the response to server/discover, and in no other', async () => {
    const { url } = await serving()
    const asks = { 'trunkline-wire': 'websocket' }
    expect(await saidBy(fetch, url, 'server/discover', asks)).toBe('websocket')
    expect(await saidBy(fetch, url, 'server/discover')).toBeNull()
    expect(await saidBy(fetch, url, 'server/discover', { 'trunkline-wire': 'other' })).toBeNull()
    expect(await saidBy(fetch, url, 'tools/list', asks)).toBeNull()
  })

  test('does not advertise them where another HTTP server listens, which may not accept any', async () => {
    const asks = { 'trunkline-wire': 'websocket' }
    const { url } = await handled()
    expect(await saidBy(fetch, url, 'server/discover', asks)).toBeNull()
    const handler = fetchHandler(working().server)
    const ask = (place: string, init: RequestInit) => handler(new Request(place, init))
    expect(await saidBy(ask, 'http://localhost/mcp', 'server/discover', asks)).toBeNull()
  })
})

describe('a router before a stateless server over HTTP', () => {
  test('calls over a WebSocket, with the headers of its configuration', async () => {
    const { url, seen } = await serving()
    const router = await routed({ a: at(url, { headers: { authorization: 'Bearer x' } }) })
    await overWebSocket(router, 'a')
    const client = await caller(router)
    expect((await client.call('say', { word: 'hello' })).text).toBe('hello')
    expect(seen).toEqual([{ wire: 'websocket', authorization: 'Bearer x' }])
  })

  test('makes more concurrent calls than one connection accepts', async () => {
    const { url, seen } = await serving()
    const router = await routed({ a: at(url) })
    await overWebSocket(router, 'a')
    const client = await caller(router)
    const words = Array.from({ length: 2000 }, (_, index) => `w${index}`)
    const said = await Promise.all(words.map(word => client.call('say', { word })))
    expect(said.map(({ text }) => text)).toEqual(words)
    expect(seen.filter(({ wire }) => wire === 'websocket').length).toBeGreaterThanOrEqual(1024)
  })

  test.each<[string, UpstreamOptions, (() => Promise<{ url: string; seen: Seen[] }>)?]>([
    ['where it is configured to', { websocket: false }],
    ['where the server offers nothing else', {}, handled],
    ['where a proxy does not support WebSockets', {}, proxied],
  ])('stays with HTTP %s', async (_, options, serve = serving) => {
    const { url, seen } = await serve()
    const router = await routed({ a: at(url, options) })
    const client = await caller(router)
    for (const word of ['one', 'two']) {
      expect((await client.call('say', { word })).text).toBe(word)
    }
    expect(seen.map(({ wire }) => wire)).toEqual(['http', 'http'])
    expect(router.server('a')?.instances[0]).not.toHaveProperty('websocket')
  })

  test('continues over HTTP when the WebSocket is lost, and opens another', async () => {
    const { relay, url, seen } = await relayed()
    const router = await routed({ a: at(url) })
    await overWebSocket(router, 'a')
    const client = await caller(router)
    await client.call('say', { word: 'before' })
    const lost = failureOf(client.call('wait'))
    await expect.poll(() => seen.length, pollOptions).toBe(2)
    relay.cut()
    expect(await lost).toMatchObject({ data: { server: 'a', outcome: 'unknown' } })
    await overWebSocketAgain(router, client)
    expect((await client.call('say', { word: 'after' })).text).toBe('after')
    expect(seen.at(-1)?.wire).toBe('websocket')
    expect(router.server('a')?.instances[0]).toMatchObject({ state: 'ready', restarts: 0 })
  })

  test('executes nothing twice, and nothing that it refused, however often the connection is cut', async () => {
    const { relay, url, said } = await relayed()
    const router = await routed({ a: at(url, { breaker: false }) })
    await overWebSocket(router, 'a')
    const client = await caller(router)
    const words = Array.from({ length: 600 }, (_, index) => `w${index}`)
    const ends = new Map<string, string>()
    let next = 0
    const work = async (): Promise<void> => {
      for (let word = words[next++]; word !== undefined; word = words[next++]) {
        if (next % 100 === 0) relay.cut()
        const end = await client.call('say', { word }).then(({ text }) => text, outcomeOf)
        ends.set(word, end)
      }
    }
    await Promise.all(Array.from({ length: 20 }, work))
    const times = (word: string): number => said.filter(one => one === word).length
    for (const [word, end] of ends) {
      const most = end === 'refused' ? 0 : 1
      expect([word, times(word) <= most, end]).toEqual([word, true, expect.any(String)])
      if (end !== 'refused' && end !== 'unknown') expect([end, times(word)]).toEqual([word, 1])
    }
    expect(ends.size).toBe(words.length)
    expect([...ends.values()]).toContain('unknown')
  })

  test('reaches a server as soon as it is back', async () => {
    const { relay, url } = await relayed()
    const router = await routed({ a: at(url, { breaker: false }) })
    await overWebSocket(router, 'a')
    const client = await caller(router)
    relay.isShut = true
    relay.cut()
    await expect
      .poll(() => router.server('a')?.instances[0]?.websocket, pollOptions)
      .toBeUndefined()
    await expect(client.call('say', { word: 'away' })).rejects.toThrow()
    relay.isShut = false
    await expect
      .poll(
        () => client.call('say', { word: 'back' }).then(({ text }) => text, String),
        pollOptions,
      )
      .toBe('back')
  })

  test('loses no call to a server that shuts down gracefully', async () => {
    const first = await serving()
    const second = await serving()
    const urls = [first.url, second.url]
    const router = await routed({ a: { urls, prefix: false, retry: { budget: 1 } } })
    await overWebSocket(router, 'a')
    const client = await caller(router)
    const waiting = Promise.all([client.call('wait'), client.call('wait')])
    await expect.poll(() => first.seen.length + second.seen.length, pollOptions).toBe(2)
    // The server that received one of the calls drains for it, and refuses what arrives meanwhile.
    const leaving = first.seen.length > 0 ? first : second
    const closed = leaving.close()
    const words = Array.from({ length: 50 }, (_, index) => `w${index}`)
    const said = await Promise.all(words.map(word => client.call('say', { word })))
    expect(said.map(({ text }) => text)).toEqual(words)
    first.letGo()
    second.letGo()
    expect((await waiting).map(({ text }) => text)).toEqual(['waited', 'waited'])
    await closed
  })

  test('gives each of its callers the log messages of its own calls', async () => {
    const { url } = await serving()
    const router = await routed({ a: at(url) })
    await overWebSocket(router, 'a')
    const received = await Promise.all(
      ['one', 'two', 'three'].map(async word => {
        const logs: unknown[] = []
        const client = await caller(router, { onLog: ({ data }) => void logs.push(data) })
        await client.setLogLevel('info')
        await Promise.all([client.call('log', { word }), client.call('log', { word })])
        return logs
      }),
    )
    expect(received).toEqual([
      ['one', 'one'],
      ['two', 'two'],
      ['three', 'three'],
    ])
  })
})

describe('a client over HTTP', () => {
  test('calls over a WebSocket where it is configured to, and only there', async () => {
    const { url, seen } = await serving()
    const changes: boolean[] = []
    const onWebSocket = (isOpen: boolean): void => void changes.push(isOpen)
    const client = await connect(url, { websocket: true, onWebSocket })
    await expect.poll(() => changes, pollOptions).toEqual([true])
    await client.call('say', { word: 'x' })
    await client.close()
    expect(changes).toEqual([true, false])
    const plain = await connect(url, { onWebSocket })
    await plain.call('say', { word: 'x' })
    await plain.close()
    expect(seen.map(({ wire }) => wire)).toEqual(['websocket', 'http'])
    expect(changes).toHaveLength(2)
  })
})

/** How a call reached the server. */
interface Seen {
  readonly wire: 'websocket' | 'http'
  readonly authorization?: string
}

/** The outcome that the error of a failed call reports. */
function outcomeOf(error: unknown): string {
  const data = error instanceof RpcError ? error.data : undefined
  return isRecord(data) && data.outcome === 'unknown' ? 'unknown' : 'refused'
}

interface Working {
  readonly server: Server
  readonly seen: Seen[]
  /** The words that the tool was called with. */
  readonly said: string[]
  readonly letGo: () => void
}

/** A server that records how the calls of its tools arrive. */
function working(): Working {
  const server = new Server({ name: 'a', version: '1' })
  const seen: Seen[] = []
  const said: string[] = []
  let letGo = (): void => {}
  const gate = new Promise<void>(resolve => {
    letGo = resolve
  })
  const input = { type: 'object', properties: { word: { type: 'string' } } } as const
  server.tool('say', { input }, ({ word }) => {
    said.push(String(word))
    return String(word)
  })
  server.tool('log', { input }, ({ word }, ctx) => ctx.log('info', word))
  server.tool('wait', {}, () => gate.then(() => 'waited'))
  server.use(next => (message, exchange) => {
    if (message.method === 'tools/call') {
      const { upgrade, authorization } = exchange.envelope.headers ?? {}
      const wire = upgrade === 'websocket' ? 'websocket' : 'http'
      seen.push({ wire, ...(authorization !== undefined && { authorization }) })
    }
    return next(message, exchange)
  })
  return { server, seen, said, letGo }
}

async function serving(options?: ListenOptions) {
  const { server, seen, said, letGo } = working()
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', options)
  const close = () => listener.close()
  onTestFinished(async () => {
    letGo()
    await close()
  })
  return { url: listener.address, seen, said, letGo, close }
}

/** The `working` server inside another HTTP server. */
async function handled() {
  const { server, seen } = working()
  const http = createHttpServer(nodeHandler(server)).listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return { url: `http://127.0.0.1:${portOf(http)}/mcp`, seen }
}

/** The `working` server behind a proxy that forwards every header and does not support upgrades. */
async function proxied() {
  const { url, seen } = await serving()
  const proxy = createHttpServer((received, answer) => {
    const { method, headers } = received
    const { host } = new URL(url)
    const passed = httpRequest(url, { method, headers: { ...headers, host } }, from => {
      answer.writeHead(from.statusCode ?? 500, from.headers)
      from.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    received.pipe(passed)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return { url: `http://127.0.0.1:${portOf(proxy)}/mcp`, seen }
}

/** A server, and a relay to it whose connections can be cut and refused. */
async function relayed() {
  const sockets = new Set<Socket>()
  let port = 0
  const relay = {
    isShut: false,
    cut: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
  const tcp = createServer(near => {
    if (relay.isShut) {
      near.destroy()
      return
    }
    const far = connectTcp(port, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  onTestFinished(() => {
    relay.cut()
    tcp.close()
  })
  const place = `127.0.0.1:${portOf(tcp)}`
  const { url, seen, said } = await serving({ allowedHosts: [place] })
  port = Number(new URL(url).port)
  return { relay, seen, said, url: `http://${place}/mcp` }
}

function at(url: string, options: UpstreamOptions = {}): UpstreamOptions {
  return { url, prefix: false, ...options }
}

/** Calls until there is a WebSocket again, because only a call opens one. */
async function overWebSocketAgain(
  router: Router,
  client: Awaited<ReturnType<typeof caller>>,
): Promise<void> {
  await expect
    .poll(async () => {
      await client.call('say', { word: 'x' })
      return router.server('a')?.instances[0]?.websocket
    }, pollOptions)
    .toBe(true)
}

function portOf(server: { address(): AddressInfo | string | null }): number {
  return (server.address() as AddressInfo).port
}

/** The header by which a response advertises other wires. */
async function saidBy(
  ask: (url: string, init: RequestInit) => Promise<Response>,
  url: string,
  method: string,
  headers: Record<string, string> = {},
): Promise<string | null> {
  const answer = await ask(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: stateless }),
  })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('upgrade')).toBeNull()
  await answer.text()
  return answer.headers.get('trunkline-wire')
}
