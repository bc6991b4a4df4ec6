import { describe, expect, test } from 'vitest'
import type { HttpRequest } from '../../src/http/exchange.ts'
import { HttpService } from '../../src/http/server/service.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { held } from '../fuzz/cost.ts'
import { settle } from '../support/fake-fetch.ts'
import { FakeReply, httpRequest } from '../support/http.ts'
import { stage } from '../support/http-server.ts'
import { type Asking, Wire, written } from './raw.ts'
import { inSession, latest, opening, stateless } from './requests.ts'
import { serve } from './served.ts'

const MiB = 1024 * 1024
const json = 'application/json'

/** Returns an `initialize` request with some parts replaced. */
function bad(headers: Asking['headers'], body?: unknown, method?: string): Asking {
  const right = opening()
  const text = body === undefined ? right.body : JSON.stringify(body)
  return { method, headers: { ...right.headers, ...headers }, body: text }
}

const params = {
  protocolVersion: latest,
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}
const initialize = (changed: object): object => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params,
  ...changed,
})

/** Requests that open no session. None of them may leave anything behind. */
const rejected: readonly (readonly [string, Asking])[] = [
  ['something else first', inSession(undefined, 'tools/list', {}, 1)],
  ['a ping first', inSession(undefined, 'ping', {}, 1)],
  ['an unknown session', inSession('never', 'tools/list', {}, 1)],
  ['no params', bad({}, initialize({ params: undefined }))],
  ['params by position', bad({}, initialize({ params: [latest] }))],
  ['no version', bad({}, initialize({ params: { ...params, protocolVersion: undefined } }))],
  [
    'a version that is not a string',
    bad({}, initialize({ params: { ...params, protocolVersion: 5 } })),
  ],
  ['no capabilities', bad({}, initialize({ params: { ...params, capabilities: null } }))],
  ['an invalid clientInfo', bad({}, initialize({ params: { ...params, clientInfo: 'x' } }))],
  ['no id', bad({}, initialize({ id: undefined, method: 'notifications/initialized' }))],
  ['an invalid id', bad({}, initialize({ id: {} }))],
  ['another protocol', bad({}, initialize({ jsonrpc: '1.0' }))],
  ['a batch', bad({}, [initialize({}), initialize({ id: 1 })])],
  ['an empty batch', bad({}, [])],
  ['invalid JSON', { body: '{"jsonrpc":"2.0","method":"initialize"' }],
  ['a wrong type', bad({ 'content-type': 'text/plain' })],
  ['a compressed body', bad({ 'content-encoding': 'gzip' })],
  ['an unacceptable media type', bad({ accept: 'text/html' })],
  ['another origin', bad({ origin: 'https://evil.test' })],
  ['another host', bad({ host: 'evil.test' })],
  ['the version of another era', bad({ 'mcp-protocol-version': stateless })],
  ['a GET without a session', { method: 'GET', headers: {} }],
  ['a DELETE of an unknown session', { method: 'DELETE', headers: { 'mcp-session-id': 'x' } }],
]

/** Returns a request as a service receives it, without a socket. */
function received({ method = 'POST', headers, body }: Asking): HttpRequest {
  const all = { accept: `${json}, text/event-stream`, 'content-type': json, ...headers }
  const said = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
  const { host = 'localhost:1', origin } = said
  const from = { hosts: [host], origins: origin === undefined ? [] : [origin], target: '/mcp' }
  const request = httpRequest({ method, headers: said, body: String(body ?? '') })
  return { ...request, origin: () => from }
}

/** Sends one request to a service. */
function handed(service: HttpService, asking: Asking): FakeReply {
  const reply = new FakeReply()
  service.handle(received(asking), reply)
  return reply
}

/** Returns the heap in use after a garbage collection. */
function heap(): number {
  held(0, () => {})
  return process.memoryUsage().heapUsed
}

describe('SEC-16: rejected initialize requests', () => {
  test.each(rejected)('with %s leave no session', async (_, asking) => {
    const on = await serve({ http: { sessions: { maxSessions: 1 } } })
    for (let i = 0; i < 3; i++) {
      const { headers, status } = await on.ask(asking)
      expect([status !== 503, headers.has('mcp-session-id')]).toEqual([true, false])
    }
    expect((await on.ask(opening())).status).toBe(200)
  })

  test('leave neither sessions nor memory, twenty thousand of them', async () => {
    // A single leaked session would fill the table.
    const service = new HttpService(stage().server, {
      path: '/mcp',
      sessions: { maxSessions: 1 },
      onError: () => {},
    })
    const requests = rejected.map(([, asking]) => received(asking))
    const flood = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const request = requests[i % requests.length]
        if (request === undefined) continue
        const reply = new FakeReply()
        service.handle(request, reply)
        if (reply.status === undefined) await reply.answered()
        // One read of a connection yields no more requests than these.
        if (i % 100 === 0) await settle()
        if (reply.status !== 503 && !('mcp-session-id' in reply.headers)) continue
        throw new Error(rejected[i % rejected.length]?.[0])
      }
    }
    // Compiled code and caches are in memory after the first of them.
    await flood(5000)
    await settle()
    const before = heap()
    await flood(15_000)
    await settle()
    // A leaked session would be several kibibytes.
    expect(heap() - before).toBeLessThan(2 * MiB)
    const reply = await handed(service, opening()).answered()
    expect(reply.status).toBe(200)
    await service.close({ drainMs: 0 })
  })

  test('leave no session over real connections either, two thousand of them', async () => {
    const on = await serve({ http: { sessions: { maxSessions: 1 } } })
    // Requests that end their connection are tested one by one above.
    const lasting = rejected.filter(
      ([name]) => name !== 'invalid JSON' && name !== 'a compressed body',
    )
    const each = Math.ceil(2000 / 20)
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const wire = await Wire.open(on.port)
        const found: number[] = []
        for (let i = 0; i < each; i++) {
          const [, asking] = lasting[i % lasting.length] ?? ['', {}]
          found.push((await wire.send(written(on.port, asking)).reply()).status)
        }
        wire.cut()
        return found
      }),
    )
    expect(statuses.flat()).toHaveLength(2000)
    expect(statuses.flat()).not.toContain(503)
    expect((await on.ask(opening())).status).toBe(200)
    expect((await on.ask(opening())).status).toBe(503)
  })
})

describe('SEC-16: the table of sessions', () => {
  test('is full at its limit, sends Retry-After, and drops expired sessions', async () => {
    const clock = fakeClock()
    // The default limit is ten times as high, and is tested with the table itself.
    const maxSessions = limits.sessions.default / 10
    const sessions = { clock, maxSessions }
    const service = new HttpService(stage().server, { path: '/mcp', sessions })
    for (let i = 0; i < maxSessions; i++) {
      const reply = handed(service, opening())
      if (reply.status === undefined) await reply.answered()
      if (i % 100 === 0) await settle()
      if (reply.status !== 200) throw new Error(`the opening ${i} was answered ${reply.status}`)
    }
    const late = await handed(service, opening()).answered()
    expect([late.status, late.headers['retry-after']]).toEqual([503, '5'])
    expect(late.json.error.message).toBe('Too many sessions')
    // No client has sent anything since.
    clock.advance(limits.sessionInitializeMs.default)
    const again = await handed(service, opening()).answered()
    expect(again.status).toBe(200)
    await service.close({ drainMs: 0 })
  })

  test('evicts the session that was idle longest, once it was idle long enough', async () => {
    const clock = fakeClock()
    const sessions = { clock, maxSessions: 3 }
    const service = new HttpService(stage().server, { path: '/mcp', sessions })
    const open = async (): Promise<FakeReply> => handed(service, opening()).answered()
    const ids: string[] = []
    for (let i = 0; i < 3; i++) {
      const id = (await open()).headers['mcp-session-id'] ?? ''
      ids.push(id)
      await handed(service, inSession(id, 'notifications/initialized')).answered()
      clock.advance(1)
    }
    expect((await open()).status).toBe(503)
    clock.advance(limits.sessionEvictableMs.default)
    expect((await open()).status).toBe(200)
    const found = await Promise.all(
      ids.map(id => handed(service, inSession(id, 'ping', {}, 1)).answered()),
    )
    expect(found.map(({ status }) => status)).toEqual([404, 200, 200])
    await service.close({ drainMs: 0 })
  })

  test('drops abandoned sessions', async () => {
    const clock = fakeClock()
    const service = new HttpService(stage().server, { path: '/mcp', sessions: { clock } })
    const reply = await handed(service, opening()).answered()
    const id = reply.headers['mcp-session-id'] ?? ''
    await handed(service, inSession(id, 'notifications/initialized')).answered()
    clock.advance(limits.sessionIdleMs.default)
    const gone = await handed(service, inSession(id, 'ping', {}, 1)).answered()
    expect(gone.status).toBe(404)
    await service.close({ drainMs: 0 })
  })
})
