import { afterEach, describe, expect, test } from 'vitest'
import { openClient } from '../../src/client/client.ts'
import type { ClientOptions } from '../../src/client/options.ts'
import { httpChannel } from '../../src/http/client/channel.ts'
import { encodeHeader } from '../../src/mcp/param-headers/encoding.ts'
import type { RevisionName } from '../../src/mcp/revisions/revisions.ts'
import { proves } from '../requirements.ts'
import { Owned } from '../support/channel.ts'
import {
  bare,
  DrivenChannel,
  Events,
  fakeFetch,
  inSession,
  type ReceivedRequest,
  reply,
  type Script,
  settle,
} from '../support/fake-fetch.ts'

const owned = new Owned()
afterEach(() => owned.closeAll())

const newest = '2025-11-25'
const stateless = '2026-07-28'
const capabilities = { tools: {}, prompts: {}, resources: {} }
const discovered = {
  resultType: 'complete',
  supportedVersions: [stateless],
  capabilities,
  ttlMs: 0,
  cacheScope: 'private',
}

/** Answers the first request of a client in any revision, and delegates everything else to the script. */
function answering(revision: string, script: Script): Script {
  let sessions = 0
  return (received, count) => {
    if (received.body?.method === 'server/discover') return reply(received, discovered)
    if (received.body?.method === 'initialize') {
      const result = {
        protocolVersion: revision,
        capabilities,
        serverInfo: { name: 's', version: '1' },
      }
      return reply(received, result, { 'mcp-session-id': `s${++sessions}` })
    }
    if (received.method === 'DELETE') return bare(204)
    return received.body?.method === 'notifications/initialized'
      ? bare(202)
      : script(received, count)
  }
}

async function open(revision: RevisionName, script: Script, options: ClientOptions = {}) {
  const { fetch, received } = fakeFetch(answering(revision, script))
  const dial = async () =>
    httpChannel(new URL('http://localhost:1/mcp'), { fetch, onError: () => {} })
  const client = await openClient(dial, { revisions: [revision], onError: () => {}, ...options })
  return { client: owned.add(client), received }
}

const methodOf = ({ body, method }: ReceivedRequest): string => body?.method ?? method

describe.each(['2025-03-26', '2025-06-18', newest, stateless] as const)(
  'a client of %s',
  revision => {
    const isStateless = revision === stateless

    test('sends each message as a POST of its own, and accepts both kinds of response', async () => {
      proves('H3', 'H3b', 'H6b', 'H8', 'N3', 'N3b', 'N3c', 'N5b', 'N8', 'N9')
      const { client, received } = await open(revision, one => {
        if (one.method === 'GET') return bare(405)
        const result = { resultType: 'complete', content: [] }
        if (one.body.params.name !== 'streams') return reply(one, result)
        return new Events().message({ id: one.body.id, result }).end()
      })
      await Promise.all([client.call('one'), client.call('streams'), client.call('two')])
      const posts = received.filter(({ method }) => method === 'POST')
      const opening = isStateless
        ? ['server/discover']
        : ['initialize', 'notifications/initialized']
      expect(posts.map(methodOf)).toEqual([...opening, 'tools/call', 'tools/call', 'tools/call'])
      for (const { headers, body } of posts) {
        expect(headers.get('accept')).toBe('application/json, text/event-stream')
        expect(Array.isArray(body)).toBe(false)
        if (!isStateless) continue
        expect(headers.get('mcp-method')).toBe(body.method)
        const version = body.params._meta['io.modelcontextprotocol/protocolVersion']
        expect(headers.get('mcp-protocol-version')).toBe(version)
      }
      const gets = received.filter(({ method }) => method === 'GET')
      expect(gets.map(({ headers }) => headers.get('accept'))).toEqual(
        isStateless ? [] : ['text/event-stream'],
      )
    })
  },
)

test('a stateless client answers no server requests', async () => {
  proves('N3e')
  const { client, received } = await open(
    stateless,
    one =>
      new Events()
        .message({ id: 'q', method: 'roots/list' })
        .message({ id: 'p', method: 'ping' })
        .message({ id: one.body.id, result: { resultType: 'complete', content: [] } })
        .end(),
    { roots: [{ uri: 'file:///' }] },
  )
  await client.call('asks')
  await settle()
  expect(received.map(methodOf)).toEqual(['server/discover', 'tools/call'])
})

test('a lost session is replaced by another, whose initialize request has no session id', async () => {
  proves('H12g')
  const { client, received } = await open(
    newest,
    one => {
      if (one.method === 'GET') return bare(405)
      const isFirst = one.headers.get('mcp-session-id') === 's1'
      return isFirst ? bare(404) : reply(one, { content: [] })
    },
    { reconnect: { attempts: 3, baseMs: 1 } },
  )
  await client.call('again')
  const openings = received.filter(one => methodOf(one) === 'initialize')
  expect(openings.map(({ headers }) => headers.has('mcp-session-id'))).toEqual([false, false])
  const calls = received.filter(one => methodOf(one) === 'tools/call')
  expect(calls.map(({ headers }) => headers.get('mcp-session-id'))).toEqual(['s1', 's2'])
})

test('the id of a session is sent only to its server, and is in no error', async () => {
  proves('H12c')
  const secret = 'a-secret-id'
  const elsewhere: Script = received =>
    received.method === 'GET' ? bare(405) : bare(307, { location: 'http://evil.test/mcp' })
  const driven = new DrivenChannel(inSession(newest, elsewhere, secret))
  await driven.openSession(newest)
  driven.request(1, 'tools/list')
  await driven.ended(2)
  expect(driven.failures).toMatchObject([{ id: 1, error: { code: 'refused' } }])
  expect(driven.received.every(({ url }) => url === 'http://localhost:1/mcp')).toBe(true)
  const reported = [...driven.errors, ...driven.failures.map(({ error }) => error)]
  expect(reported.length).toBeGreaterThan(0)
  for (const error of reported) expect(String(error)).not.toContain(secret)
})

test('a server request about a task is received on the standalone stream', async () => {
  proves('H15')
  const stream = new Events()
  const script = inSession(newest, one => {
    if (one.method === 'GET') return stream.response
    return one.body.method === undefined ? bare(202) : new Promise<Response>(() => {})
  })
  const driven = new DrivenChannel(script)
  await driven.openSession(newest)
  driven.request(1, 'tasks/result', { taskId: 't' })
  const _meta = { 'io.modelcontextprotocol/related-task': { taskId: 't' } }
  stream.message({ id: 'q', method: 'elicitation/create', params: { _meta } })
  await driven.ended(2)
  expect(driven.arrivals[1]?.arrival).toMatchObject({ id: 'q', params: { _meta } })
  void driven.channel.send({ type: 'result', id: 'q', result: { action: 'decline' } })
  await settle()
  expect(driven.received.at(-1)?.body).toMatchObject({ id: 'q', result: { action: 'decline' } })
  stream.message({ id: 1, result: {} })
  await driven.ended(3)
  expect(driven.failures).toEqual([])
  void driven.channel.close()
})

test('a tool that must not be used is reported with its name and the reason', async () => {
  proves('N10b', 'N10c')
  const bad = {
    name: 'bad',
    inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } },
  }
  const driven = new DrivenChannel(one => reply(one, { tools: [bad] }))
  const _meta = { 'io.modelcontextprotocol/protocolVersion': stateless }
  driven.request(1, 'tools/list', { _meta })
  await driven.ended()
  expect(driven.arrivals).toMatchObject([{ arrival: { result: { tools: [] } } }])
  expect(driven.errors.map(String)).toEqual([
    expect.stringMatching(/"bad".*must be on a string, an integer or a boolean/),
  ])
})

test.each([
  ['us-west1', 'us-west1'],
  ['', ''],
  ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
  ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
])('%j stands in a header as the specification has it', (value, header) => {
  proves('N11b', 'N11c')
  expect(encodeHeader(value)).toBe(header)
})
