import { describe, expect, test } from 'vitest'
import { listen } from '../../src/listen.ts'
import { addressesOf } from '../../src/serve-address.ts'
import { Server } from '../../src/server/server.ts'
import { proves } from '../requirements.ts'
import type { Wire } from './raw.ts'
import { calling, inSession, opening, speaking, stateless } from './requests.ts'
import { serve } from './served.ts'

const sessionRevisions = ['2025-03-26', '2025-06-18', '2025-11-25'] as const

test('a server without a host is reachable from its own machine only', async () => {
  proves('H2c')
  const server = new Server({ name: 'x', version: '1' })
  await using listener = await listen(server, 'http://:0/mcp')
  expect(new URL(listener.address).hostname).toBe('127.0.0.1')
  expect(addressesOf(['--http', '4000'], {})).toEqual(['http://127.0.0.1:4000/mcp'])
  expect(addressesOf([], { MCP_TRANSPORT: 'http', PORT: '4000' })[0]).toMatch('127.0.0.1')
})

test('one path serves stateless requests, sessions and their streams', async () => {
  proves('N1', 'H1', 'H8b')
  const on = await serve()
  const path = '/mcp'
  expect((await on.ask({ ...speaking('tools/list'), path })).status).toBe(200)
  const opened = await on.ask({ ...opening(), path })
  expect(opened.status).toBe(200)
  const session = opened.headers.get('mcp-session-id')
  const stream = await on.open({ method: 'GET', path, headers: { 'mcp-session-id': session } })
  const { status, headers } = await stream.begin()
  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  stream.cut()
})

test('the two endpoints of HTTP+SSE are served as well', async () => {
  proves('H14', 'P1', 'P2', 'P4')
  const on = await serve()
  const stream = await on.open({ method: 'GET', path: '/sse' })
  await stream.begin()
  const named = (await stream.block()) ?? ''
  expect(named).toMatch(/^event: endpoint$/m)
  const path = /^data: ?(.*)$/m.exec(named)?.[1]
  expect((await on.ask({ ...opening('2024-11-05'), path })).status).toBe(202)
  const said = (await stream.block()) ?? ''
  expect(said).toMatch(/^event: message$/m)
  const answer = JSON.parse(/^data: ?(.*)$/m.exec(said)?.[1] ?? '')
  expect(answer).toMatchObject({ id: 0, result: { protocolVersion: '2024-11-05' } })
  await on.isAlive()
  stream.cut()
})

describe('a session', () => {
  test.each(sessionRevisions)(
    'of %s answers accepted messages with 202, and rejected ones with an error',
    async revision => {
      proves('H5', 'H5b')
      const on = await serve()
      const session = await on.session(revision)
      const taken = await on.ask(inSession(session, 'notifications/roots/list_changed'))
      expect([taken.status, taken.text]).toEqual([202, ''])
      const refused = [
        inSession('made-up', 'notifications/roots/list_changed'),
        { headers: { 'mcp-session-id': session }, body: '{"jsonrpc":"1.0","method":"x"}' },
        { body: '{"jsonrpc":"2.0","id":1,"result":{}}' },
      ]
      for (const asking of refused) {
        expect((await on.ask(asking)).status).toBeGreaterThanOrEqual(400)
      }
    },
  )

  test.each(sessionRevisions)(
    'of %s has unique event ids, and each resumes its own stream',
    async revision => {
      proves('H10', 'H10b', 'H10d')
      const on = await serve()
      const session = await on.session(revision)
      const headers = { 'mcp-session-id': session }
      const own = await on.open({ method: 'GET', headers })
      await own.begin()
      const works = ['a', 'b'].map((word, id) => {
        const params = { name: 'work', arguments: { word }, _meta: { progressToken: word } }
        return on.open(inSession(session, 'tools/call', params, id))
      })
      const streams = [own, ...(await Promise.all(works))]
      await on.ask(inSession(session, 'tools/call', { name: 'change' }, 'c'))
      const ids: string[] = []
      for (const [i, stream] of streams.entries()) {
        if (i > 0) await stream.begin()
        ids.push(await firstEventId(stream))
        stream.cut()
      }
      expect(new Set(ids).size).toBe(3)
      for (const word of ['a', 'b']) on.gate(word).resolve()
      for (const [i, word] of ['a', 'b'].entries()) {
        const last = { 'last-event-id': ids[i + 1] }
        const { events } = await on.ask({ method: 'GET', headers: { ...headers, ...last } })
        const [second, answer, ...more] = events
          .filter(data => data !== '')
          .map(data => JSON.parse(data))
        expect(second.params).toMatchObject({ progressToken: word, progress: 2 })
        expect([answer.id, answer.result.content[0].text, more]).toEqual([i, word, []])
      }
    },
  )

  test('is not needed for a request, which gets the revision of its header, or else the oldest', async () => {
    proves('H13c')
    const server = new Server({ name: 'x', version: '1' })
    server.tool('give', { output: { type: 'object', properties: {} } }, () => ({}))
    const on = await serve({ http: { sessionless: true } }, server)
    const asking = inSession(undefined, 'tools/call', { name: 'give' }, 1)
    const structured = async (version?: string): Promise<unknown> => {
      const headers = { ...asking.headers, 'mcp-protocol-version': version }
      return (await on.ask({ ...asking, headers })).json.result.structuredContent
    }
    expect(await structured('2025-06-18')).toEqual({})
    expect(await structured('2025-03-26')).toBeUndefined()
    expect(await structured()).toBeUndefined()
    const { json } = await on.ask({ headers: {}, body: batch })
    expect(json.error?.code ?? json).toBe(-32600)
  })

  test('reads its tasks without a stream', async () => {
    proves('H15b')
    const server = new Server({ name: 'x', version: '1' }, { onError: () => {} })
    server.tool('slow', { task: 'optional' }, () => new Promise(() => {}))
    const on = await serve({}, server)
    const session = await on.session('2025-11-25')
    const begun = await on.ask(inSession(session, 'tools/call', { name: 'slow', task: {} }, 1))
    const { taskId } = JSON.parse(begun.events.at(-1) ?? begun.text).result.task
    const looked = await on.ask(inSession(session, 'tasks/get', { taskId }, 2))
    expect(looked.headers.get('content-type')).toBe('application/json')
    expect(looked.json.result).toMatchObject({ taskId, status: 'working' })
  })
})

const batch = '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'

describe('a stateless request', () => {
  test('may be a notification, which gets 202 or an error', async () => {
    proves('N4', 'N4b')
    const on = await serve()
    const headers = { 'mcp-protocol-version': stateless }
    const note = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
    const taken = await on.ask({ headers, body: note })
    expect([taken.status, taken.text]).toEqual([202, ''])
    for (const body of [note.replace('2.0', '1.0'), note.slice(1), `[${note}]`]) {
      const { status, json } = await on.ask({ headers, body })
      expect([status, json.id ?? null]).toEqual([400, null])
    }
  })

  test('gets its own messages only, however many there are and whatever else changes', async () => {
    proves('N6', 'N6c')
    const on = await serve()
    const words = ['a', 'b', 'c']
    const wires: Wire[] = []
    for (const word of words) {
      const wire = await on.open(
        calling('work', { word }, { id: word, meta: { progressToken: word } }),
      )
      await wire.begin()
      wires.push(wire)
    }
    await on.ask(calling('change'))
    for (const word of [...words].reverse()) on.gate(word).resolve()
    for (const [i, wire] of wires.entries()) {
      const word = words[i]
      const received = [await said(wire), await said(wire), await said(wire)]
      expect(received.map(one => one?.params?.progressToken ?? one?.id)).toEqual([word, word, word])
      expect(await said(wire)).toBeUndefined()
    }
  })

  test('never gets server requests on its stream', async () => {
    proves('N6b')
    const on = await serve()
    const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
    for (const accept of ['application/json', 'text/event-stream']) {
      const reply = await on.ask(calling('ask', {}, { meta, headers: { accept } }))
      const received = reply.events.length === 0 ? [reply.text] : reply.events
      const messages = received.map(text => JSON.parse(text))
      expect(messages).toMatchObject([{ id: 1, result: { resultType: 'input_required' } }])
      expect(messages[0]).not.toHaveProperty('method')
    }
  })

  test('in an unsupported version gets the supported ones', async () => {
    proves('N8d')
    const on = await serve()
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }
    const headers = { 'mcp-protocol-version': '2099-01-01' }
    const { status, json } = await on.ask(speaking('tools/list', {}, { meta, headers }))
    expect([status, json.error.code]).toEqual([400, -32022])
    expect(json.error.data).toMatchObject({ supported: [stateless], requested: '2099-01-01' })
  })

  test('needs the version header if the server has no sessions', async () => {
    proves('N8f', 'V11')
    const server = new Server({ name: 'x', version: '1' }, { revisions: [stateless] })
    const on = await serve({}, server)
    const bare = { headers: { 'mcp-protocol-version': undefined } }
    const own = await on.ask(speaking('tools/list', {}, bare))
    expect([own.status, own.json.error.code]).toEqual([400, -32020])
    const others = [
      opening(),
      inSession(undefined, 'tools/list', {}, 1),
      inSession('made-up', 'tools/list', {}, 1),
      inSession('made-up', 'notifications/initialized'),
    ]
    for (const asking of others) {
      const { status, json } = await on.ask(asking)
      expect([status, json.error.code, json.error.data]).toEqual([
        400,
        -32020,
        { supported: [stateless] },
      ])
      expect(json.error.message).toContain(stateless)
    }
  })

  test('ignores session and event ids in its headers, and gets neither', async () => {
    proves('N17b', 'N17c')
    const only = new Server({ name: 'x', version: '1' }, { revisions: [stateless] })
    for (const on of [await serve(), await serve({}, only)]) {
      for (const accept of ['application/json', 'text/event-stream']) {
        const headers = { accept, 'mcp-session-id': 'made-up', 'last-event-id': '1-1' }
        const reply = await on.ask(speaking('server/discover', {}, { headers }))
        expect([reply.status, reply.headers.has('mcp-session-id')]).toEqual([200, false])
        expect(reply.text).not.toMatch(/^id:/m)
        expect(reply.text).toContain('"result"')
      }
    }
  })
})

/** Returns the id of the first event with data on a stream. */
async function firstEventId(stream: Wire): Promise<string> {
  for (;;) {
    const block = (await stream.block()) ?? expect.unreachable()
    if (/^data: ?\S/m.test(block)) return /^id: ?(.*)$/m.exec(block)?.[1] ?? ''
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests inspect it member by member
async function said(wire: Wire): Promise<any> {
  const data = await wire.event()
  return data === undefined ? undefined : JSON.parse(data)
}
