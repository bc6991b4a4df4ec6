import { afterEach, describe, expect, test } from 'vitest'
import { FakeReply, httpRequest } from '../../../../../test/support/http.ts'
import { stage } from '../../../../../test/support/http-server.ts'
import {
  both,
  call,
  note,
  opening,
  openSession,
  playerOf,
  request,
} from '../../../../../test/support/http-session.ts'
import { fakeSessionStore } from '../../../../../test/support/session-store.ts'
import type { Endpoint } from '../../../../mcp/endpoint.ts'
import { fakeClock } from '../../../../testing/fake-clock.ts'
import { deferred } from '../../../../util/promises.ts'
import { HttpService } from '../../service.ts'
import { Sessions, type SessionsOptions } from '../sessions.ts'
import { SessionMoveError } from './session-move-error.ts'

const opened: Sessions[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close({ drainMs: 0 })
})

function node(options: SessionsOptions = {}, change?: (endpoint: Endpoint) => Endpoint) {
  const on = stage()
  const clock = fakeClock()
  const store = fakeSessionStore()
  const sessions = new Sessions(change?.(on.server) ?? on.server, { clock, ...options, store })
  opened.push(sessions)
  return { ...on, clock, store, sessions }
}

/** The code of the SessionMoveError that a function throws. */
function refusal(move: () => unknown): unknown {
  try {
    move()
  } catch (error) {
    if (error instanceof SessionMoveError) return error.code
    throw error
  }
  return undefined
}

describe('a store', () => {
  test('has a session before its client has it', async () => {
    const { sessions, store, settle } = node()
    const saved = deferred<void>()
    store.wait = saved.promise
    const reply = new FakeReply()
    sessions.begin(opening(), httpRequest(), reply, both)
    await settle()
    expect([reply.status, store.calls]).toEqual([undefined, ['opened']])
    saved.resolve()
    await reply.answered()
    expect(store.record(reply.headers['mcp-session-id'] ?? '')).toBeDefined()
  })

  test('that fails leaves a session that works here, and gets its record with the next change', async () => {
    const { sessions, store } = node()
    store.wait = Promise.reject(new Error('down'))
    const client = await openSession(sessions)
    expect((await client.post(call(1, 'echo', { word: 'a' })).answered()).status).toBe(200)
    expect(store.calls).toEqual(['opened', 'changed'])
    expect(store.record(client.id)).toMatchObject({ version: 1, epoch: 0, isMovable: true })
  })

  test('has no session whose client has left before the response', async () => {
    const { sessions, store, settle } = node()
    const saved = deferred<void>()
    store.wait = saved.promise
    const reply = new FakeReply()
    sessions.begin(opening(), httpRequest(), reply, both)
    await settle()
    reply.leave()
    saved.resolve()
    await settle()
    expect([sessions.size, store.calls]).toEqual([0, ['opened', 'ended']])
  })

  test('gets one record for all changes of a turn', async () => {
    const { sessions, store, settle } = node()
    const client = await openSession(sessions)
    await settle()
    store.calls.length = 0
    client.post(request(1, 'logging/setLevel', { level: 'error' }))
    client.post(request(2, 'logging/setLevel', { level: 'info' }))
    await settle()
    expect([store.calls, store.record(client.id)?.state.logLevel]).toEqual([['changed'], 'info'])
  })

  test('forgets a session before DELETE is answered', async () => {
    const { server } = stage()
    const store = fakeSessionStore()
    const service = new HttpService(server, { sessions: { store } })
    const ask = (method: string, headers: Record<string, string>, body = ''): FakeReply => {
      const reply = new FakeReply()
      service.handle(httpRequest({ method, headers, body }), reply)
      return reply
    }
    const { id, method, params } = opening()
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const begun = await ask('POST', { 'content-type': 'application/json' }, body).answered()
    const headers = { 'mcp-session-id': begun.headers['mcp-session-id'] ?? '' }
    expect(store.record(headers['mcp-session-id'])).toBeDefined()
    const forgotten = deferred<void>()
    store.wait = forgotten.promise
    const reply = ask('DELETE', headers)
    expect(reply.status).toBeUndefined()
    expect(ask('DELETE', headers).status).toBe(404)
    forgotten.reject(new Error('down'))
    expect((await reply.answered()).status).toBe(204)
    expect(store.calls).toEqual(['opened', 'ended'])
    await service.close()
  })

  test('forgets sessions that are idle, evicted or closed by their server', async () => {
    const limited = { maxSessions: 1, evictableMs: 0, idleMs: 1000 }
    const { sessions, store, clock, server } = node(limited)
    await openSession(sessions)
    await openSession(sessions)
    clock.advance(2000)
    await openSession(sessions)
    await server.close()
    expect(store.calls.filter(name => name === 'ended')).toHaveLength(3)
  })

  test('keeps sessions when the service closes, and their clients are asked to reconnect', async () => {
    const { sessions, store } = node({ retryMs: 50 })
    const client = await openSession(sessions)
    const stream = client.get()
    await sessions.close({ drainMs: 0 })
    expect([stream.isEnded, stream.retryMs]).toEqual([true, 50])
    expect([store.calls.includes('ended'), sessions.size]).toEqual([false, 0])
    expect(store.record(client.id)).toBeDefined()
  })

  test('gets the sessions that are in use, every tenth of the idle time', async () => {
    const { sessions, store, clock } = node({ idleMs: 1000, events: { maxAgeMs: 100_000 } })
    const quiet = await openSession(sessions)
    const touched = (): number => store.calls.filter(name => name === 'touched').length
    clock.advance(100)
    expect(touched()).toBe(1)
    clock.advance(500)
    expect(touched()).toBe(1)
    await quiet.post(note('notifications/roots/list_changed')).answered()
    clock.advance(100)
    expect(touched()).toBe(2)
    // An open stream is in use without any message.
    quiet.get()
    clock.advance(2000)
    expect(touched()).toBe(22)
    expect(sessions.size).toBe(1)
  })

  test('gets no sessions of an endpoint that cannot continue them', async () => {
    const { sessions, store } = node({}, ({ profile, revisions, handle, attach }) => {
      const { server } = stage()
      return { profile, revisions, handle, attach: attach.bind(server) }
    })
    const client = await openSession(sessions)
    expect(store.calls).toEqual([])
    expect(refusal(() => sessions.release(client.id))).toBe('unknown')
  })
})

describe('a session is restored', () => {
  async function record({ sessions, settle, store }: ReturnType<typeof node>) {
    const client = await openSession(sessions)
    await settle()
    return { client, record: store.record(client.id) }
  }

  test('only with a valid record of this version, and a greater epoch', async () => {
    const { record: good } = await record(node())
    const { sessions } = node()
    const wrong: unknown[] = [
      undefined,
      'text',
      { ...good, id: '' },
      { ...good, epoch: -1 },
      { ...good, isMovable: 'no' },
      { ...good, principal: 'ada' },
      { ...good, owner: 1 },
      { ...good, eventPrefix: '../' },
      { ...good, state: { ...good?.state, subscriptions: [1] } },
      { ...good, state: { ...good?.state, logLevel: 'all' } },
    ]
    for (const each of wrong) expect(refusal(() => sessions.restore(each))).toBe('invalid')
    expect(refusal(() => sessions.restore(good, [], 0))).toBe('invalid')
    expect(refusal(() => sessions.restore({ ...good, version: 2 }))).toBe('unsupported')
    const state = { ...good?.state, revision: '2026-07-28' }
    expect(refusal(() => sessions.restore({ ...good, state }))).toBe('unsupported')
    expect(refusal(() => sessions.restore({ ...good, isMovable: false }))).toBe('bound')
    expect(sessions.size).toBe(0)
    const restored = sessions.restore(good, [null, 5, { type: 'event', stream: 'x' }], 77)
    expect(restored.record(undefined)?.epoch).toBe(77)
    expect(refusal(() => sessions.restore(good))).toBe('exists')
    // A process may have ended before the store had its epoch.
    const event = { type: 'event', stream: 0, epoch: 5, sequence: 1, before: 0, data: '{}' }
    expect(refusal(() => sessions.restore({ ...good, id: 'x' }, [event], 5))).toBe('invalid')
    expect(sessions.restore({ ...good, id: 'x' }, [event]).record(undefined)?.epoch).toBe(6)
  })

  test('within the limits, for its principal or its address', async () => {
    const a = node()
    const [one, two] = [await record(a), await record(a)]
    const { sessions } = node({ maxSessionsPerAddress: 1 })
    sessions.restore({ ...one.record, owner: 'address x' })
    expect(refusal(() => sessions.restore({ ...two.record, owner: 'address x' }))).toBe('full')
    sessions.restore({ ...two.record, owner: 'address y' })
    await sessions.close({ drainMs: 0 })
    expect(refusal(() => sessions.restore(one.record))).toBe('closing')
  })

  test('for its idle time, or for the time of a client that has never sent anything', async () => {
    const { record: good } = await record(node())
    const b = node({ idleMs: 1000, initializeTimeoutMs: 100 })
    b.sessions.restore(good)
    b.sessions.restore({ ...good, id: 'new', state: { ...good?.state, isReady: false } })
    b.clock.advance(200)
    expect(b.sessions.find(good?.id ?? '', undefined)).toBeDefined()
    b.clock.advance(1000)
    expect(b.sessions.size).toBe(0)
  })
})

test('a session that another process has now is dropped, whatever it does', async () => {
  const { sessions, store, aborted, settle } = node()
  const client = await openSession(sessions)
  const reply = client.post(call(1, 'wait', { word: 'a' }))
  const stream = client.get()
  await settle()
  const before = [...store.calls]
  expect([sessions.drop(client.id), sessions.drop(client.id)]).toEqual([true, false])
  await reply.answered()
  expect([stream.isEnded, aborted, sessions.size]).toEqual([true, ['a'], 0])
  expect(store.calls).toEqual(before)
})

describe('a session is released', () => {
  test('with all that its client can resume, and goes on elsewhere', async () => {
    const [a, b] = [node({ retryMs: 70 }), node()]
    const client = await openSession(a.sessions)
    a.gate('a').resolve()
    const reply = await client.post(call('r', 'work', { word: 'a' })).answered()
    const stream = client.get()
    await client.post(call(1, 'change')).answered()
    await a.settle()
    const { record, events } = JSON.parse(JSON.stringify(a.sessions.release(client.id)))
    expect([stream.isEnded, stream.retryMs, a.sessions.size]).toEqual([true, 70, 0])
    await a.settle()
    expect(a.store.calls).not.toContain('ended')
    expect(client.post(call(2, 'echo', { word: 'x' })).status).toBe(404)
    const heir = playerOf(b.sessions.restore(record, events))
    expect(heir.get(reply.events[0]?.id).messages).toHaveLength(3)
    const again = heir.get(stream.events.at(-1)?.id)
    expect(again.messages.map(({ method }) => method)).toEqual(['notifications/tools/list_changed'])
    expect(heir.get(stream.events[0]?.id).messages).toHaveLength(2)
  })

  test('unless it has requests in flight, or is unknown', async () => {
    const { sessions, gate } = node()
    const client = await openSession(sessions, undefined, { capabilities: { elicitation: {} } })
    const reply = client.post(call(1, 'wait', { word: 'a' }))
    expect(refusal(() => sessions.release(client.id))).toBe('busy')
    gate('a').resolve()
    await reply.answered()
    expect(refusal(() => sessions.release('other'))).toBe('unknown')
    expect(sessions.release(client.id).record.id).toBe(client.id)
    expect(refusal(() => sessions.release(client.id))).toBe('unknown')
  })

  test('unless its process has something for it that no other can have', async () => {
    let hold: (() => void) | undefined
    const { sessions, store } = node({}, endpoint => ({
      profile: endpoint.profile,
      revisions: endpoint.revisions,
      handle: endpoint.handle,
      attach: endpoint.attach.bind(endpoint),
      attachSession: (channel, envelope, hooks) => {
        const attachment = endpoint.attachSession?.(channel, envelope, hooks)
        if (attachment === undefined) throw new Error('a server has attachSession')
        let isMovable = true
        hold = () => {
          isMovable = false
          hooks.onChange()
        }
        return {
          closed: attachment.closed,
          pendingCalls: 0,
          get isMovable() {
            return isMovable
          },
          state: () => attachment.state(),
          notifyAll: () => attachment.notifyAll(),
          close: options => attachment.close(options),
          [Symbol.asyncDispose]: () => attachment.close(),
        }
      },
    }))
    const client = await openSession(sessions)
    hold?.()
    await undefined
    expect(store.record(client.id)?.isMovable).toBe(false)
    expect(refusal(() => sessions.release(client.id))).toBe('bound')
    // It cannot go on elsewhere, so it ends with the service.
    await sessions.close({ drainMs: 0 })
    expect(store.calls.at(-1)).toBe('ended')
  })
})
