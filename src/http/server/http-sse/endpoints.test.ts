import { describe, expect, test } from 'vitest'
import { proves } from '../../../../test/requirements.ts'
import { FakeReply, httpRequest, type Wire } from '../../../../test/support/http.ts'
import { said, stage } from '../../../../test/support/http-server.ts'
import type { Principal } from '../../../jsonrpc/channel.ts'
import { decodeRules } from '../../../jsonrpc/codec/decode-rules.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'
import { limits } from '../../../util/limits/limits.ts'
import type { SessionsOptions } from '../sessions/sessions.ts'
import { HttpSseEndpoints } from './endpoints.ts'

const paths = { events: '/sse', messages: '/messages' }
const rules = decodeRules({ maxBytes: 10_000 })

function open(options: SessionsOptions = {}) {
  const on = stage()
  const clock = fakeClock()
  return { ...on, clock, pair: new HttpSseEndpoints(on.server, paths, { clock, ...options }) }
}

function get(pair: HttpSseEndpoints, principal?: Principal): FakeReply {
  const reply = new FakeReply()
  pair.handle(httpRequest({ method: 'GET', target: '/sse', principal }), reply, rules)
  return reply
}

function post(
  pair: HttpSseEndpoints,
  target: string,
  body: Wire,
  principal?: Principal,
): FakeReply {
  const reply = new FakeReply()
  const text = typeof body === 'string' ? body : JSON.stringify({ jsonrpc: '2.0', ...body })
  const headers = { 'content-type': 'application/json' }
  pair.handle(httpRequest({ target, headers, body: text, principal }), reply, rules)
  return reply
}

const address = (stream: FakeReply): string => stream.events[0]?.data ?? ''
const messages = (stream: FakeReply): Wire[] =>
  stream.events.filter(({ event }) => event === 'message').map(({ data }) => JSON.parse(data))
const initialize = {
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
}
const callOf = (name: string, word: string) => ({
  id: 1,
  method: 'tools/call',
  params: { name, arguments: { word } },
})

describe('the two endpoints of HTTP+SSE', () => {
  test('are distinguished from those of later revisions', () => {
    const { pair } = open()
    const handles = (method: string, target: string, headers = {}) =>
      pair.handles(httpRequest({ method, target, headers }))
    expect(handles('GET', '/sse')).toBe(true)
    expect(handles('GET', '/sse', { 'mcp-session-id': 'x' })).toBe(false)
    expect(handles('POST', '/sse')).toBe(false)
    expect(handles('POST', '/messages?sessionId=x')).toBe(true)
    expect(handles('POST', '/messages')).toBe(false)
    expect(handles('GET', '/mcp')).toBe(false)
  })

  test('begin with an event that names the URL for messages, and send everything on that stream', async () => {
    proves('P1', 'P2', 'P4')
    const { pair } = open()
    const stream = get(pair)
    expect(stream.events[0]?.event).toBe('endpoint')
    expect(address(stream)).toMatch(/^\/messages\?sessionId=[!-~]{32,}$/)
    expect(post(pair, address(stream), initialize).status).toBe(202)
    post(pair, address(stream), { method: 'notifications/initialized' })
    expect(post(pair, address(stream), callOf('echo', 'x')).status).toBe(202)
    await stream.until(() => messages(stream).length === 2)
    const [first, second] = messages(stream)
    expect([first.result.protocolVersion, second.id, said(second)]).toEqual(['2024-11-05', 1, 'x'])
  })

  test('keep clients apart', async () => {
    const { pair } = open()
    const streams = [get(pair), get(pair)]
    for (const [i, stream] of streams.entries()) {
      post(pair, address(stream), initialize)
      post(pair, address(stream), callOf('echo', `${i}`))
      await stream.until(() => messages(stream).length === 2)
    }
    expect(streams.map(stream => said(messages(stream)[1]))).toEqual(['0', '1'])
  })

  test.each([
    ['that does not exist', '/messages?sessionId=x', undefined],
    ['without a name', '/messages?sessionId=', undefined],
  ])('know no session %s', (_, target, principal) => {
    const reply = post(open().pair, target, initialize, principal)
    expect([reply.status, reply.json.error.code]).toEqual([404, -32001])
  })

  test('do not find the session of another principal', () => {
    const { pair } = open()
    const stream = get(pair, { id: 'a' })
    expect(post(pair, address(stream), initialize, { id: 'b' }).status).toBe(404)
    expect(post(pair, address(stream), initialize).status).toBe(404)
    expect(post(pair, address(stream), initialize, { id: 'a' }).status).toBe(202)
  })

  test.each([
    ['no JSON', '{', 400, -32700],
    ['no message', '{}', 400, -32600],
    ['too much', `"${'x'.repeat(20_000)}"`, 413, -32012],
  ])('reject %s in the response itself', (_, body, status, code) => {
    const { pair } = open()
    const reply = post(pair, address(get(pair)), body)
    expect([reply.status, reply.json.error.code]).toEqual([status, code])
  })

  test('reject other media types than JSON, and a client that accepts no events', () => {
    const { pair } = open()
    const target = address(get(pair))
    const reply = new FakeReply()
    pair.handle(httpRequest({ target, headers: { 'content-type': 'text/plain' } }), reply, rules)
    expect(reply.status).toBe(415)
    const headers = { accept: 'application/json' }
    const plain = new FakeReply()
    pair.handle(httpRequest({ method: 'GET', target: '/sse', headers }), plain, rules)
    expect(plain.status).toBe(406)
  })

  test('end the session with the stream, and cancel what is in flight', async () => {
    const { pair, aborted, settle } = open()
    const stream = get(pair)
    post(pair, address(stream), initialize)
    post(pair, address(stream), callOf('wait', 'a'))
    stream.leave()
    await settle()
    expect([aborted, pair.size]).toEqual([['a'], 0])
    expect(post(pair, address(stream), initialize).status).toBe(404)
  })

  test('end the session of a client that opens a stream and sends nothing', async () => {
    const { pair, clock } = open()
    const [silent, talking] = [get(pair), get(pair)]
    post(pair, address(talking), initialize)
    clock.advance(limits.sessionInitializeMs.default + 20)
    await silent.answered()
    expect([talking.isEnded, pair.size]).toEqual([false, 1])
  })

  test('have a limit of sessions', () => {
    const { pair } = open({ maxSessions: 1 })
    get(pair)
    const reply = get(pair)
    expect([reply.status, reply.headers['retry-after']]).toEqual([503, '5'])
  })

  test('close in an orderly way', async () => {
    const { pair, gate } = open()
    const stream = get(pair)
    post(pair, address(stream), initialize)
    post(pair, address(stream), callOf('wait', 'a'))
    const closing = pair.close({ drainMs: 5000 })
    expect(get(pair).status).toBe(503)
    gate('a').resolve()
    await closing
    expect([said(messages(stream).at(-1)), stream.isEnded, pair.size]).toEqual(['a', true, 0])
  })
})
