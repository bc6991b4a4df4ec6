import { describe, expect, test } from 'vitest'
import { proves } from '../../../../test/requirements.ts'
import { FakeReply, httpRequest } from '../../../../test/support/http.ts'
import { said, stage } from '../../../../test/support/http-server.ts'
import {
  both,
  call,
  note,
  opening,
  openSession,
  request,
} from '../../../../test/support/http-session.ts'
import type { Server } from '../../../server/server.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'
import { limits } from '../../../util/limits/limits.ts'
import { deferred } from '../../../util/promises.ts'
import { Sessions, type SessionsOptions } from './sessions.ts'

function open(options: SessionsOptions = {}) {
  const on = stage()
  const clock = fakeClock()
  return { ...on, clock, sessions: new Sessions(on.server, { clock, ...options }) }
}

function begin(sessions: Sessions, message = opening(), id?: string): FakeReply {
  const reply = new FakeReply()
  const principal = id === undefined ? undefined : { id }
  sessions.begin(message, httpRequest({ principal }), reply, both)
  return reply
}

/** Holds back every response until the returned function is called. */
function gate(server: Server): () => void {
  const opened = deferred<void>()
  server.use(next => async (message, exchange) => {
    await opened.promise
    return next(message, exchange)
  })
  return () => opened.resolve()
}

describe('opening a session', () => {
  test('responds with an id that cannot be guessed', async () => {
    proves('H12', 'H12b')
    const { sessions } = open()
    const ids = new Set<string>()
    for (let i = 0; i < 50; i++) {
      const reply = await begin(sessions).answered()
      expect([reply.status, reply.json.result.protocolVersion]).toEqual([200, '2025-11-25'])
      const id = reply.headers['mcp-session-id'] ?? ''
      expect(id).toMatch(/^[!-~]{32,}$/)
      ids.add(id)
    }
    expect([ids.size, sessions.size]).toEqual([50, 50])
  })

  test('responds with a stream for a client that accepts no JSON', async () => {
    const { sessions } = open()
    const reply = new FakeReply()
    sessions.begin(opening(), httpRequest(), reply, { json: false, events: true })
    await reply.answered()
    expect(reply.headers['mcp-session-id']).toBeDefined()
    expect(reply.messages.map(({ id }) => id)).toEqual([0])
  })

  test('leaves no session when it fails', async () => {
    const { sessions, settle } = open()
    for (let i = 0; i < 100; i++) {
      const reply = await begin(sessions, request(i, 'initialize', { capabilities: {} })).answered()
      expect([reply.json.id, reply.json.error.code]).toEqual([i, -32602])
      expect(reply.headers['mcp-session-id']).toBeUndefined()
    }
    await settle()
    expect(sessions.size).toBe(0)
  })

  test('leaves no session when the client does not wait for it', async () => {
    const { sessions, server, settle } = open()
    const proceed = gate(server)
    const reply = begin(sessions)
    expect(sessions.size).toBe(1)
    reply.leave()
    proceed()
    await settle()
    expect(sessions.size).toBe(0)
  })

  test('is undone when the client sends nothing further', async () => {
    const { sessions, clock } = open()
    const reply = await begin(sessions).answered()
    clock.advance(limits.sessionInitializeMs.default + 20)
    expect(sessions.find(reply.headers['mcp-session-id'] ?? '', undefined)).toBeUndefined()
    expect(sessions.size).toBe(0)
  })

  test('measures the silence from its response', async () => {
    const { sessions, server, clock } = open()
    const proceed = gate(server)
    const reply = begin(sessions)
    clock.advance(limits.sessionInitializeMs.default - 100)
    proceed()
    await reply.answered()
    clock.advance(limits.sessionInitializeMs.default - 100)
    expect(sessions.size).toBe(1)
  })
})

describe('a session', () => {
  test('is found by its own principal only', async () => {
    proves('H16', 'H16b')
    const { sessions } = open()
    const { id } = await openSession(sessions, undefined, { principal: { id: 'a' } })
    expect(sessions.find(id, { id: 'a' })?.id).toBe(id)
    for (const principal of [{ id: 'b' }, undefined])
      expect(sessions.find(id, principal)).toBeUndefined()
    const anonymous = await openSession(sessions)
    expect(sessions.find(anonymous.id, { id: 'a' })).toBeUndefined()
    expect(sessions.find('constructor', undefined)).toBeUndefined()
  })

  test('never gets the replies of another, whatever their ids', async () => {
    const { sessions, gate } = open()
    const clients = await Promise.all(Array.from({ length: 50 }, () => openSession(sessions)))
    const asked = clients.flatMap((client, c) =>
      [1, 2, '1'].map(id => {
        const word = `${c} ${id} ${typeof id}`
        return { id, word, reply: client.post(call(id, c % 2 === 0 ? 'wait' : 'work', { word })) }
      }),
    )
    for (const { word } of [...asked].reverse()) gate(word).resolve()
    for (const { id, word, reply } of asked) {
      await reply.answered()
      const message = reply.isStream ? reply.messages.at(-1) : reply.json
      expect([message.id, said(message)]).toEqual([id, word])
      expect(
        reply.messages.slice(0, -1).every(one => one.method === 'notifications/progress'),
      ).toBe(true)
    }
  })

  test('that is ended is gone at once, and rejects requests in flight', async () => {
    const { sessions, aborted } = open()
    const client = await openSession(sessions)
    const reply = client.post(call(9, 'wait', { word: 'a' }))
    const stream = client.get()
    const ending = client.session.end()
    expect(sessions.find(client.id, undefined)).toBeUndefined()
    await ending
    expect([reply.json.id, reply.json.error.message]).toEqual([9, 'Shutting down'])
    expect([stream.isEnded, aborted, sessions.size]).toEqual([true, ['a'], 0])
    await client.session.end()
    expect([client.get().status, client.post(call(1, 'echo')).status]).toEqual([404, 404])
  })

  test('ends after the idle timeout, and not while it is busy', async () => {
    const { sessions, clock, gate, settle } = open({ idleMs: 1000, events: { maxAgeMs: 100_000 } })
    const idle = await openSession(sessions)
    const listening = await openSession(sessions)
    const stream = listening.get()
    const asking = await openSession(sessions)
    const reply = asking.post(call(1, 'wait', { word: 'a' }))
    // It does not matter whether the client still waits: it may reconnect.
    reply.leave()
    clock.advance(600)
    await idle.post(note('notifications/roots/list_changed')).answered()
    clock.advance(600)
    expect(sessions.size).toBe(3)
    clock.advance(600)
    expect([sessions.size, sessions.find(idle.id, undefined)]).toEqual([2, undefined])
    stream.leave()
    gate('a').resolve()
    await settle()
    clock.advance(1100)
    expect(sessions.size).toBe(0)
  })

  test('keeps no events when it ends', async () => {
    const { sessions, gate, settle } = open()
    gate('a').resolve()
    for (let i = 0; i < 20; i++) {
      const client = await openSession(sessions)
      await client.post(call(1, 'work', { word: 'a' })).answered()
      expect(sessions.keptBytes).toBeGreaterThan(0)
      await client.session.end()
    }
    await settle()
    expect([sessions.size, sessions.keptBytes]).toEqual([0, 0])
  })
})

describe('at the limit of sessions', () => {
  test('another one is rejected with Retry-After', async () => {
    const { sessions } = open({ maxSessions: 3 })
    for (let i = 0; i < 3; i++) await openSession(sessions)
    const reply = begin(sessions)
    expect([reply.status, reply.json.id, reply.json.error.code]).toEqual([503, 0, -32000])
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
    expect(sessions.size).toBe(3)
  })

  test('the session that was idle longest is evicted, if it was idle long enough', async () => {
    const { sessions, clock } = open({ maxSessions: 3 })
    const busy = await openSession(sessions)
    busy.get()
    const first = await openSession(sessions)
    clock.advance(limits.sessionEvictableMs.default / 2)
    const second = await openSession(sessions)
    clock.advance(limits.sessionEvictableMs.default / 2)
    expect((await begin(sessions).answered()).status).toBe(200)
    const found = [busy, first, second].map(({ id }) => sessions.find(id, undefined) !== undefined)
    expect([found, sessions.size]).toEqual([[true, false, true], 3])
    expect(begin(sessions).status).toBe(503)
  })

  test('each principal has its own limit', async () => {
    const { sessions, clock } = open({ maxSessionsPerPrincipal: 2 })
    const principal = { id: 'a' }
    const other = await openSession(sessions, undefined, { principal: { id: 'b' } })
    const first = await openSession(sessions, undefined, { principal })
    await openSession(sessions, undefined, { principal })
    expect(begin(sessions, opening(), 'a').status).toBe(503)
    expect((await begin(sessions, opening(), 'b').answered()).status).toBe(200)
    clock.advance(limits.sessionEvictableMs.default)
    await openSession(sessions, undefined, { principal })
    expect(sessions.find(first.id, principal)).toBeUndefined()
    expect(sessions.find(other.id, { id: 'b' })).toBeDefined()
  })

  test('the defaults are those of the limits', async () => {
    const { sessions, clock } = open({ initializeTimeoutMs: 10_000_000 })
    for (let i = 0; i < limits.sessionsPerPrincipal.default; i++) begin(sessions, opening(), 'a')
    expect(begin(sessions, opening(), 'a').status).toBe(503)
    for (let i = sessions.size; i < limits.sessions.default; i++) begin(sessions)
    expect([begin(sessions).status, sessions.size]).toEqual([503, limits.sessions.default])
    clock.advance(10_000_020)
    expect(sessions.size).toBe(0)
    await openSession(sessions)
    clock.advance(limits.sessionIdleMs.default - 20)
    expect(sessions.size).toBe(1)
    clock.advance(40)
    expect(sessions.size).toBe(0)
  })
})

describe('closing', () => {
  test('serves until no request is in flight, then ends every stream, and accepts no new session', async () => {
    const { sessions, gate } = open()
    const client = await openSession(sessions)
    const stream = client.get()
    const reply = client.post(call(1, 'work', { word: 'a' }))
    const closing = sessions.close({ drainMs: 5000 })
    const late = client.post(call(2, 'echo', { word: 'b' }))
    expect(said((await late.answered()).json)).toBe('b')
    expect(stream.isEnded).toBe(false)
    gate('a').resolve()
    await closing
    expect(begin(sessions).status).toBe(503)
    expect([said(reply.messages.at(-1)), reply.isEnded, stream.isEnded]).toEqual(['a', true, true])
    expect(sessions.size).toBe(0)
    await sessions.close()
  })

  test('waits no longer than `drainMs`', async () => {
    const { sessions, aborted } = open()
    const client = await openSession(sessions)
    const reply = client.post(call(1, 'wait', { word: 'a' }))
    await sessions.close({ drainMs: 0 })
    expect([reply.json.error.message, aborted]).toEqual(['Shutting down', ['a']])
  })
})

describe('a request without a session', () => {
  function once(
    on: ReturnType<typeof open>,
    message = call(5, 'echo', { word: 'x' }),
    revision = '2025-06-18',
  ) {
    const reply = new FakeReply()
    on.sessions.serveSessionless({
      message,
      revision,
      request: httpRequest(),
      reply,
      accepts: both,
      onSettled: () => {},
    })
    return reply
  }

  test('is answered as if it had one, and leaves none', async () => {
    const on = open()
    const reply = await once(on).answered()
    expect([reply.status, reply.json.id, said(reply.json)]).toEqual([200, 5, 'x'])
    expect([on.sessions.size, reply.headers['mcp-session-id']]).toEqual([0, undefined])
  })

  test('gets the events that belong to it, without ids', async () => {
    const on = open()
    on.gate('a').resolve()
    const reply = await once(on, call('w', 'work', { word: 'a' }), '2025-11-25').answered()
    expect(reply.events.map(({ id }) => id)).toEqual(['', '', ''])
    expect(reply.messages.at(-1).id).toBe('w')
  })

  test('gets no server requests, and is answered all the same', async () => {
    const on = open()
    on.server.use(
      next => async (message, exchange) =>
        message.method === 'ask'
          ? { why: await refusalOf(exchange.back) }
          : next(message, exchange),
    )
    const reply = await once(on, request(1, 'ask')).answered()
    expect(reply.json.result).toEqual({ why: -32601 })
  })

  test('of a revision that is not served is rejected', async () => {
    const on = open()
    const reply = await once(on, undefined, '1999-01-01').answered()
    expect([reply.status, reply.json.id]).toEqual([400, 5])
  })

  test('is answered with the error of the `initialize` that it implies', async () => {
    const on = open()
    on.server.use(next => (message, exchange) => {
      if (message.method === 'initialize') throw new Error('closed today')
      return next(message, exchange)
    })
    const reply = await once(on).answered()
    expect([reply.json.id, reply.json.error.code]).toEqual([5, -32603])
  })
})

async function refusalOf(back: { call(method: string): Promise<unknown> } | undefined) {
  try {
    return await back?.call('roots/list')
  } catch (error) {
    return (error as { code: number }).code
  }
}
