import { afterEach, describe, expect, test, vi } from 'vitest'
import { sessionRevisions } from '../../../../../test/support/answering-client.ts'
import type { FakeReply } from '../../../../../test/support/http.ts'
import { stage } from '../../../../../test/support/http-server.ts'
import {
  call,
  note,
  openSession,
  type Player,
  playerOf,
  request,
} from '../../../../../test/support/http-session.ts'
import { fakeSessionStore } from '../../../../../test/support/session-store.ts'
import { memory } from '../../../../backplane/memory/memory.ts'
import { sharedTasks } from '../../../../cluster/tasks/shared-tasks.ts'
import type { Principal } from '../../../../jsonrpc/channel.ts'
import type { TaskStore } from '../../../../server/index.ts'
import { Server } from '../../../../server/server.ts'
import type { Session } from '../../../../server/session.ts'
import { Sessions, type SessionsOptions } from '../sessions.ts'
import type { StreamEvent } from './stream-event.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

/** A process with a store of sessions of its own. */
function node(options: SessionsOptions = {}, tasks?: TaskStore) {
  const on = stage()
  const server = tasks === undefined ? on.server : new Server(info, { tasks: { store: tasks } })
  server.resource('a', 'r:///a', {}, () => 'a')
  server.tool('slow', { task: 'optional' }, () => 'slow')
  server.tool('log', {}, (_, ctx) => {
    ctx.log('info', 'quiet')
    ctx.log('error', 'loud')
    return ''
  })
  const ready: Session[] = []
  server.on('ready', session => void ready.push(session))
  const store = fakeSessionStore()
  const sessions = new Sessions(server, { ...options, store })
  opened.push({ close: () => sessions.close({ drainMs: 0 }) })
  /** Sends a message on the standalone stream. */
  const say = (data: string): void => ready.at(-1)?.log('error', data)
  return { ...on, server, store, sessions, say }
}

const info = { name: 'node', version: '1' }
type Node = ReturnType<typeof node>

/** Continues the session of a client at another node, with the events that were not lost. */
function adopt(
  from: Node,
  to: Node,
  client: Player,
  events: readonly StreamEvent[] = from.store.events(client.id),
  principal?: Principal,
): Player {
  // The new owner sees all that the store has: also the events of the owner before.
  for (const event of events) to.store.event(client.id, event)
  return playerOf(to.sessions.restore(from.store.record(client.id), events), principal)
}

const said = (reply: FakeReply): unknown[] =>
  reply.messages.map(({ method, params, error, id }) =>
    method === 'notifications/message'
      ? params.data
      : method === 'notifications/progress'
        ? `progress ${params.progress}`
        : (method ?? [id, error?.data?.outcome ?? 'result']),
  )
const notices = [
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
] as const
const idOf = (reply: FakeReply, data: string): string =>
  reply.events.find(event => event.data.includes(`"${data}"`))?.id ?? ''

describe.each(sessionRevisions)('a restored session of %s', revision => {
  test('goes on with its state, without another initialize', async () => {
    const [a, b] = [node(), node()]
    const client = await openSession(a.sessions, revision)
    await client.post(request(1, 'logging/setLevel', { level: 'error' })).answered()
    await client.post(request(2, 'resources/subscribe', { uri: 'r:///a' })).answered()
    await a.settle()
    const heir = adopt(a, b, client)
    expect(heir.session.revision).toBe(revision)
    const stream = heir.get()
    expect(said(stream)).toEqual([...notices, 'notifications/resources/updated'])
    const reply = await heir.post(call(3, 'log')).answered()
    expect(said(reply)).toEqual(['loud', [3, 'result']])
    b.server.updated('r:///a')
    await b.settle()
    expect(said(stream).slice(3)).toEqual(['notifications/resources/updated'])
    // Only once.
    stream.leave()
    expect(said(heir.get())).toEqual([])
  })

  test('is resumed exactly after the event that the client got last', async () => {
    const [a, b] = [node(), node()]
    const client = await openSession(a.sessions, revision)
    const stream = client.get()
    for (const data of ['1', '2', '3']) a.say(data)
    const heir = adopt(a, b, client)
    b.say('4')
    expect(said(heir.get(idOf(stream, '1')))).toEqual(['2', '3', '4', ...notices])
    expect(said(heir.get(idOf(stream, '3')))).toEqual(['4', ...notices])
  })
})

describe('the standalone stream of a restored session', () => {
  test('goes on for a client that has more than the log', async () => {
    const [a, b] = [node(), node()]
    const client = await openSession(a.sessions)
    const stream = client.get()
    for (const data of ['1', '2', '3', '4', '5']) a.say(data)
    const heir = adopt(a, b, client, a.store.events(client.id).slice(0, 3))
    for (const data of ['6', '7', '8']) b.say(data)
    const resumed = heir.get(idOf(stream, '5'))
    expect(said(resumed)).toEqual(['6', '7', '8', ...notices])
    expect(heir.get(idOf(resumed, '7')).messages).toHaveLength(3)
    // The ids of both processes differ, although they count from the same number.
    const ids = [...stream.events, ...resumed.events].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('goes on for a client whose events have expired everywhere', async () => {
    const [a, b] = [node(), node()]
    const client = await openSession(a.sessions)
    const stream = client.get()
    a.say('1')
    const heir = adopt(a, b, client, [])
    b.say('2')
    expect(said(heir.get(idOf(stream, '1')))).toEqual(['2', ...notices])
  })

  test('is not resumed after an event that is followed by lost ones', async () => {
    const [a, b] = [node(), node({ events: { maxStreamEvents: 3 } })]
    const client = await openSession(a.sessions)
    const stream = client.get()
    for (const data of ['1', '2', '3', '4']) a.say(data)
    const heir = adopt(a, b, client, a.store.events(client.id).slice(2))
    expect(heir.get(idOf(stream, '1')).status).toBe(400)
    expect(said(heir.get(idOf(stream, '2')))).toEqual(['3', '4', ...notices])
    for (const data of ['5', '6', '7']) b.say(data)
    expect(heir.get(idOf(stream, '3')).status).toBe(400)
  })

  test('does not count changes of lists as lost', async () => {
    const [a, b] = [node(), node()]
    const client = await openSession(a.sessions)
    const stream = client.get()
    a.say('1')
    await client.post(call(1, 'change')).answered()
    await a.settle()
    a.say('2')
    expect(a.store.events(client.id).filter(({ type }) => type === 'event')).toHaveLength(2)
    const change = stream.events.find(({ data }) => data.includes('list_changed'))?.id
    const heir = adopt(a, b, client, a.store.events(client.id).slice(1))
    expect(said(heir.get(change))).toEqual(['2', ...notices])
    expect(said(heir.get(idOf(stream, '1')))).toEqual(['2', ...notices])
  })

  test('outlives several processes', async () => {
    const [a, b, c] = [node(), node(), node()]
    const client = await openSession(a.sessions)
    const first = client.get()
    for (const data of ['1', '2', '3']) a.say(data)
    const second = adopt(a, b, client, a.store.events(client.id).slice(0, 2))
    await b.settle()
    expect([b.store.record(client.id)?.epoch, b.store.calls]).toEqual([1, ['changed']])
    const replayed = second.get(idOf(first, '1'))
    b.say('4')
    const third = adopt(b, c, client)
    c.say('5')
    expect(said(third.get(idOf(first, '1'))).slice(0, 3)).toEqual(['2', '4', '5'])
    expect(said(third.get(idOf(first, '3'))).slice(0, 2)).toEqual(['4', '5'])
    expect(said(third.get(idOf(replayed, '2'))).slice(0, 2)).toEqual(['4', '5'])
    expect(said(third.get(idOf(replayed, '4'))).slice(0, 1)).toEqual(['5'])
    expect(idOf(first, '1')).not.toContain('.')
  })

  test('sends to a client without an event id what no connection has got', async () => {
    const [a, b] = [node(), node()]
    const client = await openSession(a.sessions)
    a.say('1')
    const stream = client.get()
    a.say('2')
    stream.leave()
    a.say('3')
    expect(said(stream)).toEqual(['1', '2'])
    expect(said(adopt(a, b, client).get())).toEqual(['3', ...notices])
  })

  test('knows no event of a process that comes after', async () => {
    const [a, b] = [node(), node()]
    const client = await openSession(a.sessions)
    const heir = adopt(a, b, client)
    b.say('1')
    const stream = heir.get()
    expect(client.get(idOf(stream, '1')).status).toBe(400)
  })
})

describe('the stream of a POST', () => {
  test.each(['"r"', '7', '1152921504606846976'])(
    'whose request %s is lost says that its outcome is unknown',
    async id => {
      const [a, b] = [node(), node()]
      const client = await openSession(a.sessions)
      const params = { name: 'work', arguments: { word: 'a' }, _meta: { progressToken: 'p' } }
      const reply = client.postText(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${JSON.stringify(params)}}`,
      )
      await reply.until(({ messages }) => messages.length === 1)
      const heir = adopt(a, b, client)
      const resumed = heir.get(reply.events[0]?.id)
      expect(resumed.isEnded).toBe(true)
      expect(said(resumed)).toMatchObject(['progress 1', [expect.anything(), 'unknown']])
      expect(resumed.text).toContain(`"id":${id},"error"`)
      expect(said(heir.get(reply.events.at(-1)?.id))).toHaveLength(1)
      // Keys of POSTs are not used again.
      b.gate('b').resolve()
      const other = await heir.post(call(1, 'work', { word: 'b' })).answered()
      expect(heir.get(other.events[0]?.id).status).toBe(200)
      expect(client.get(other.events[0]?.id).status).toBe(400)
    },
  )

  test('with a batch gets an error for each request', async () => {
    const [a, b] = [node(), node()]
    const client = await openSession(a.sessions, '2025-03-26')
    const entries = [call(1, 'work', { word: 'a' }), call(2, 'work', { word: 'b' })]
    const reply = client.post({ type: 'batch', entries })
    await reply.until(({ messages }) => messages.length === 2)
    const resumed = adopt(a, b, client).get(reply.events.at(-1)?.id)
    expect(said(resumed)).toEqual([
      [1, 'unknown'],
      [2, 'unknown'],
    ])
  })

  test('that has ended has its reply at the next process, and nothing else', async () => {
    const [a, b] = [node(), node()]
    const client = await openSession(a.sessions)
    a.gate('a').resolve()
    const reply = await client.post(call('r', 'work', { word: 'a' })).answered()
    const resumed = adopt(a, b, client).get(reply.events[0]?.id)
    expect(said(resumed)).toEqual(['progress 1', 'progress 2', ['r', 'result']])
    expect(resumed.isEnded).toBe(true)
  })

  test('whose request was cancelled gets nothing', async () => {
    const [a, b] = [node(), node()]
    const client = await openSession(a.sessions)
    const reply = client.post(call('r', 'work', { word: 'a' }))
    await reply.until(({ messages }) => messages.length === 1)
    await client.post(note('notifications/cancelled', { requestId: 'r' })).answered()
    const resumed = adopt(a, b, client).get(reply.events[0]?.id)
    expect([said(resumed), resumed.isEnded]).toEqual([['progress 1'], true])
  })

  test('of which nothing was reported cannot be resumed', async () => {
    const [a, b] = [node(), node()]
    const client = await openSession(a.sessions)
    const reply = client.post(call('r', 'work', { word: 'a' }))
    await reply.until(({ messages }) => messages.length === 1)
    const heir = adopt(a, b, client, [])
    expect(heir.get(reply.events.at(-1)?.id).status).toBe(400)
  })
})

test('a restored session lists the tasks of its session', async () => {
  const backplane = memory()
  opened.push(backplane)
  const [a, b] = [node({}, sharedTasks(backplane)), node({}, sharedTasks(backplane))]
  const client = await openSession(a.sessions)
  const other = await openSession(b.sessions)
  const made = await client.post(request(1, 'tools/call', { name: 'slow', task: {} })).answered()
  const { taskId } = made.json.result.task
  const heir = adopt(a, b, client)
  await vi.waitFor(async () => {
    const { result } = (await heir.post(request(2, 'tasks/list')).answered()).json
    expect(result.tasks).toMatchObject([{ taskId, status: 'completed' }])
  })
  expect((await other.post(request(2, 'tasks/list')).answered()).json.result.tasks).toEqual([])
})

test('a restored session belongs to its principal, and knows what it may do', async () => {
  const ada: Principal = { id: 'ada', roles: ['admin'] }
  const [a, b] = [node(), node()]
  const client = await openSession(a.sessions, undefined, { principal: ada })
  adopt(a, b, client, [], ada)
  expect(a.store.record(client.id)?.principal).toEqual(ada)
  expect(b.sessions.find(client.id, ada)).toBeDefined()
  expect(b.sessions.find(client.id, { id: 'eve' })).toBeUndefined()
  expect(b.sessions.find(client.id, undefined)).toBeUndefined()
})

test('unknown members of a record stay in it', async () => {
  const [a, b] = [node(), node()]
  const client = await openSession(a.sessions)
  const record = { ...a.store.record(client.id), upstreams: { calc: 'id' } }
  const restored = b.sessions.restore(record)
  expect(restored.record(undefined)).toMatchObject({ upstreams: { calc: 'id' }, epoch: 1 })
})
