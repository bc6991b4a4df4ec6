import { describe, expect, it, vi } from 'vitest'
import {
  type Answer,
  allRevisions,
  type Loose,
  never,
  type ScriptedServer,
  sessionRevisions,
  sessionServer,
  statelessServer,
  turns,
} from '../../../test/support/scripted-server.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Id } from '../../jsonrpc/message.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { openClient } from '../client.ts'
import { ChangeQueue } from './change-queue.ts'
import type { Change, ChangeFilter } from './changes.ts'

const quiet = { onError: () => {} }
const tag = (id: unknown) => ({ _meta: { 'io.modelcontextprotocol/subscriptionId': id } })
const acknowledged = 'notifications/subscriptions/acknowledged'
const toolsChanged = 'notifications/tools/list_changed'
const updated = 'notifications/resources/updated'

/** A stateless server that supports subscriptions, and reports which streams are open. */
function listening(honour: (filter: Loose) => object = filter => filter) {
  const open = new Map<Id, Loose>()
  const end = new Map<Id, (result: unknown) => void>()
  const server = statelessServer({
    'subscriptions/listen': (params, { id = '', exchange }) =>
      new Promise(resolve => {
        open.set(id, params.notifications)
        end.set(id, resolve)
        void exchange.notify(acknowledged, {
          notifications: honour(params.notifications),
          ...tag(id),
        })
      }),
    'notifications/cancelled': ({ requestId }) => open.delete(requestId as Id),
  })
  const ids = () => [...open.keys()]
  const notify = (method: string, id: Id | undefined, params: object = {}) =>
    server.notify(method, { ...params, ...tag(id) })
  return { server, open, ids, end, notify }
}

describe.each(allRevisions)('changes in %s', revision => {
  /** A server of this revision, and a function that notifies a change. */
  function watched() {
    const ok = () => ({})
    if (revision === '2026-07-28') {
      const { server, ids, notify } = listening()
      const change = (method: string, params?: object) => notify(method, ids().at(-1), params)
      return { server, change }
    }
    const server = sessionServer(revision, {
      'resources/subscribe': ok,
      'resources/unsubscribe': ok,
    })
    return { server, change: (method: string, params?: object) => server.notify(method, params) }
  }

  it('of all types are yielded by one loop', async () => {
    const { server, change } = watched()
    await using client = await openClient(server.dial, quiet)
    const changes = client.changes({
      tools: true,
      prompts: true,
      resources: ['file:///a'],
      resourceList: true,
    })
    expect(await changes.ready).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['file:///a'],
    })
    change(toolsChanged)
    change('notifications/prompts/list_changed')
    change('notifications/resources/list_changed')
    change(updated, { uri: 'file:///a' })
    const seen: Change[] = []
    for await (const one of changes) {
      seen.push(one)
      if (one.type === 'resource') break
    }
    expect(seen).toEqual([
      { type: 'tools' },
      { type: 'prompts' },
      { type: 'resources' },
      { type: 'resource', uri: 'file:///a' },
    ])
  })

  it('are yielded only to the subscriptions that requested them', async () => {
    const { server, change } = watched()
    await using client = await openClient(server.dial, quiet)
    const prompts = client.changes({ prompts: true })
    await prompts.ready
    const tools = client.changes({ tools: true })
    await tools.ready
    change(toolsChanged)
    expect((await tools.next()).value).toEqual({ type: 'tools' })
    await prompts.return()
    expect(await prompts.next()).toEqual({ done: true, value: undefined })
  })

  it('of one subject that have not been read are merged', async () => {
    const { server, change } = watched()
    await using client = await openClient(server.dial, quiet)
    const changes = client.changes({ tools: true, resources: ['file:///a', 'file:///b'] })
    await changes.ready
    for (let i = 0; i < 10; i++) {
      change(toolsChanged)
      change(updated, { uri: 'file:///b' })
    }
    await turns()
    expect((await changes.next()).value).toEqual({ type: 'tools' })
    expect((await changes.next()).value).toEqual({ type: 'resource', uri: 'file:///b' })
    change(updated, { uri: 'file:///a' })
    expect((await changes.next()).value).toEqual({ type: 'resource', uri: 'file:///a' })
  })

  it('survive a lost connection, and then yield reconnected', async () => {
    const { server, change } = watched()
    await using client = await openClient(server.dial, quiet)
    const changes = client.changes({ tools: true, resources: ['file:///a'] })
    await changes.ready
    await server.disconnect()
    expect((await changes.next()).value).toEqual({ type: 'reconnected' })
    change(toolsChanged)
    expect((await changes.next()).value).toEqual({ type: 'tools' })
    const subscribing = revision === '2026-07-28' ? 'subscriptions/listen' : 'resources/subscribe'
    expect(server.sent(subscribing)).toHaveLength(2)
  })

  it('end with the signal, with the loop, and with the client', async () => {
    const { server } = watched()
    const client = await openClient(server.dial, quiet)
    const giveUp = new AbortController()
    const bySignal = client.changes({ tools: true }, { signal: giveUp.signal })
    const byLoop = client.changes({ tools: true })
    const byClient = client.changes({ tools: true })
    const before = client.changes({ tools: true }, { signal: AbortSignal.abort() })
    await Promise.all([bySignal.ready, byLoop.ready, byClient.ready])
    expect((await before.next()).done).toBe(true)
    const waiting = bySignal.next()
    giveUp.abort()
    expect(await waiting).toEqual({ done: true, value: undefined })
    await byLoop.return()
    expect((await byLoop.next()).done).toBe(true)
    const last = byClient.next()
    await client.close()
    expect((await last).done).toBe(true)
    const after = client.changes({ tools: true })
    await expect(after.ready).rejects.toMatchObject({ code: 'closed' })
    await expect(after.next()).rejects.toMatchObject({ code: 'closed' })
    expect((await after.next()).done).toBe(true)
  })

  it('end with an error when reconnecting fails', async () => {
    const { server } = watched()
    await using client = await openClient(server.dial, { reconnect: false, ...quiet })
    const changes = client.changes({ tools: true })
    await changes.ready
    const next = changes.next().catch(e => e)
    await server.disconnect()
    expect(await next).toMatchObject({ code: 'closed' })
    expect((await changes.next()).done).toBe(true)
  })

  it('are refused in strict mode if the server does not support them', async () => {
    const { server } =
      revision === '2026-07-28'
        ? listening(() => ({}))
        : { server: sessionServer(revision, {}, { capabilities: { tools: {} } }) }
    const strict = await openClient(server.dial, { strict: true, ...quiet })
    const refused = strict.changes({ tools: true })
    await expect(refused.ready).rejects.toMatchObject({ code: 'refused' })
    await expect(refused.next()).rejects.toMatchObject({ code: 'refused' })
    await strict.close()
    await using client = await openClient(server.dial, quiet)
    const filter: ChangeFilter = { tools: true, resources: ['file:///a'] }
    expect(await client.changes(filter).ready).toEqual({})
    expect(server.methods()).not.toContain('resources/subscribe')
  })
})

describe.each(sessionRevisions)('subscriptions in %s', revision => {
  const subscribing = (answer: Answer = () => ({})) =>
    sessionServer(revision, { 'resources/subscribe': answer, 'resources/unsubscribe': () => ({}) })

  it('are made once for all users, and ended with the last', async () => {
    const server = subscribing()
    await using client = await openClient(server.dial, quiet)
    const one = client.changes({ resources: ['file:///a', 'file:///b'] })
    const other = client.changes({ resources: ['file:///a'] })
    await Promise.all([one.ready, other.ready])
    expect(server.sent('resources/subscribe')).toEqual([{ uri: 'file:///a' }, { uri: 'file:///b' }])
    await one.return()
    await turns()
    expect(server.sent('resources/unsubscribe')).toEqual([{ uri: 'file:///b' }])
    await other.return()
    await turns()
    expect(server.sent('resources/unsubscribe')).toHaveLength(2)
  })

  it('are sent in the right order, even if they change quickly', async () => {
    const server = subscribing()
    await using client = await openClient(server.dial, quiet)
    const first = client.changes({ resources: ['file:///a'] })
    await first.ready
    await first.return()
    const second = client.changes({ resources: ['file:///a'] })
    await second.ready
    await turns()
    const sent = server.methods().filter(method => method.startsWith('resources/'))
    expect(sent.at(-1)).toBe('resources/subscribe')
  })

  it('that are refused end the loop with the error', async () => {
    const server = subscribing(() => {
      throw new RpcError(-32002, 'Resource not found')
    })
    await using client = await openClient(server.dial, quiet)
    const changes = client.changes({ resources: ['file:///x'] })
    await expect(changes.ready).rejects.toMatchObject({ code: -32002 })
    await expect(changes.next()).rejects.toMatchObject({ code: -32002 })
  })

  it('include resources below, but not those with the same prefix only', async () => {
    const server = subscribing()
    await using client = await openClient(server.dial, quiet)
    const changes = client.changes({ resources: ['file:///dir', 'db://x/'] })
    await changes.ready
    for (const uri of [
      'file:///directory',
      'file:///dir/a',
      'file:///dir?x',
      'db://x/1',
      'db://y',
    ]) {
      server.notify(updated, { uri })
    }
    server.notify(updated, { uri: 7 })
    server.notify(toolsChanged)
    await turns()
    const uris = [await changes.next(), await changes.next(), await changes.next()]
    expect(uris.map(({ value }: Loose) => value.uri)).toEqual([
      'file:///dir/a',
      'file:///dir?x',
      'db://x/1',
    ])
    await client.close()
    expect((await changes.next()).done).toBe(true)
  })

  it('are not removed from a session that is being closed', async () => {
    const server = subscribing()
    const client = await openClient(server.dial, quiet)
    await client.changes({ resources: ['file:///a'] }).ready
    await client.close()
    await turns()
    expect(server.methods()).not.toContain('resources/unsubscribe')
  })
})

describe('listen streams', () => {
  it('send exactly the requested filter', async () => {
    const { server, open } = listening()
    await using client = await openClient(server.dial)
    const filters: readonly [ChangeFilter, object][] = [
      [{ tools: true }, { toolsListChanged: true }],
      [{ prompts: true, tools: false }, { promptsListChanged: true }],
      [{ resources: true }, { resourcesListChanged: true }],
      [{ resources: ['a', 'a', 'b'] }, { resourceSubscriptions: ['a', 'b'] }],
      [{ resources: [], tasks: ['t1'] }, { taskIds: ['t1'] }],
    ]
    for (const [filter] of filters) await client.changes(filter).ready
    expect([...open.values()]).toEqual(filters.map(([, wire]) => wire))
  })

  it('are distinguished by their ids, including the type', async () => {
    const { server, ids, notify } = listening()
    await using client = await openClient(server.dial)
    const one = client.changes({ tools: true })
    await one.ready
    const other = client.changes({ tools: true })
    await other.ready
    const [first, second] = ids()
    notify(toolsChanged, second)
    expect((await other.next()).value).toEqual({ type: 'tools' })
    notify(toolsChanged, `${first}`)
    server.notify(toolsChanged)
    notify('notifications/prompts/list_changed', first)
    expect((await one.next()).value).toEqual({ type: 'prompts' })
  })

  it('are not ready before they are acknowledged', async () => {
    let acknowledge: () => void = () => {}
    const server = statelessServer({
      'subscriptions/listen': (_, { id, exchange }) => {
        acknowledge = () => void exchange.notify(acknowledged, { notifications: {}, ...tag(id) })
        return never()
      },
    })
    await using client = await openClient(server.dial)
    const changes = client.changes({ tools: true })
    let isReady = false
    void changes.ready.then(() => {
      isReady = true
    })
    await turns()
    expect(isReady).toBe(false)
    acknowledge()
    await turns()
    expect(isReady).toBe(true)
  })

  it('time out if they are not acknowledged', async () => {
    const clock = fakeClock()
    const server = statelessServer({ 'subscriptions/listen': never })
    await using client = await openClient(server.dial, { clock, timeoutMs: 1000 })
    const changes = client.changes({ tools: true })
    const next = changes.next().catch(e => e)
    await turns()
    clock.advance(1100)
    expect(await next).toMatchObject({ code: 'timeout' })
    await expect(changes.ready).rejects.toMatchObject({ code: 'timeout' })
    await turns()
    expect(server.sent('notifications/cancelled')).toHaveLength(1)
  })

  it('stay open without a timeout', async () => {
    const clock = fakeClock()
    const { server, ids, notify } = listening()
    await using client = await openClient(server.dial, { clock, timeoutMs: 1000 })
    const changes = client.changes({ tools: true })
    await changes.ready
    clock.advance(24 * 3600_000)
    await turns()
    notify(toolsChanged, ids()[0])
    expect((await changes.next()).value).toEqual({ type: 'tools' })
  })

  it('are cancelled when the loop is left', async () => {
    const { server, open, ids, notify } = listening()
    await using client = await openClient(server.dial)
    const changes = client.changes({ tools: true })
    await changes.ready
    const [id] = ids()
    notify(toolsChanged, id)
    for await (const _ of changes) break
    await turns()
    expect(open.size).toBe(0)
    expect(server.sent('notifications/cancelled')[0]).toMatchObject({ requestId: id })
  })

  it('are cancelled when the client closes', async () => {
    const { server, ids } = listening()
    const client = await openClient(server.dial)
    await client.changes({ tools: true }).ready
    const [id] = ids()
    await client.close()
    await turns()
    expect(server.sent('notifications/cancelled')[0]).toMatchObject({ requestId: id })
  })

  it('end the loop with the error that refuses them', async () => {
    const server = statelessServer()
    await using client = await openClient(server.dial)
    const changes = client.changes({ tools: true })
    await expect(changes.next()).rejects.toMatchObject({ code: -32601 })
    await expect(changes.ready).rejects.toMatchObject({ code: -32601 })
  })

  const endings: readonly [string, (server: ScriptedServer, id: Id, end: () => void) => void][] = [
    ['the result', (_, __, end) => end()],
    ['a cancellation', (server, id) => server.notify('notifications/cancelled', { requestId: id })],
    [
      'both',
      (server, id, end) => {
        server.notify('notifications/cancelled', { requestId: id })
        end()
      },
    ],
    [
      'both, in reverse order',
      (server, id, end) => {
        end()
        server.notify('notifications/cancelled', { requestId: id })
      },
    ],
  ]
  it.each(endings)('that the server ends by %s are opened again', async (_, ending) => {
    const clock = fakeClock()
    const { server, ids, end, notify } = listening()
    const reconnect = { random: () => 1, baseMs: 100 }
    await using client = await openClient(server.dial, { clock, reconnect })
    const changes = client.changes({ tools: true })
    await changes.ready
    const [id = ''] = ids()
    ending(server, id, () => end.get(id)?.({ resultType: 'complete', ...tag(id) }))
    await turns()
    expect(server.sent('subscriptions/listen')).toHaveLength(1)
    clock.advance(120)
    expect((await changes.next()).value).toEqual({ type: 'reconnected' })
    expect(server.sent('subscriptions/listen')).toHaveLength(2)
    expect(server.sent('notifications/cancelled')).toEqual([])
    notify(toolsChanged, ids().at(-1))
    expect((await changes.next()).value).toEqual({ type: 'tools' })
  })

  it('that the server keeps ending are given up in the end', async () => {
    const clock = fakeClock()
    const server = statelessServer({
      'subscriptions/listen': (_, { id, exchange }) => {
        void exchange.notify(acknowledged, { notifications: {}, ...tag(id) })
        return { resultType: 'complete', ...tag(id) }
      },
    })
    const reconnect = { attempts: 2, baseMs: 100, random: () => 1 }
    await using client = await openClient(server.dial, { clock, reconnect })
    const changes = client.changes({ tools: true })
    const seen: string[] = []
    const loop = (async () => {
      for await (const { type } of changes) seen.push(type)
    })()
    for (let i = 0; i < 4; i++) {
      await turns()
      clock.advance(250)
    }
    await loop
    expect(server.sent('subscriptions/listen')).toHaveLength(3)
    expect(seen).toEqual(['reconnected', 'reconnected'])
  })

  it('that the server ends before the acknowledgement are given up, too', async () => {
    const server = statelessServer({ 'subscriptions/listen': () => ({ resultType: 'complete' }) })
    await using client = await openClient(server.dial, { reconnect: false })
    const changes = client.changes({ tools: true })
    await expect(changes.ready).rejects.toMatchObject({ code: 'closed' })
    expect((await changes.next()).done).toBe(true)
  })

  it('include tasks', async () => {
    const { server, ids, notify } = listening()
    await using client = await openClient(server.dial)
    const changes = client.changes({ tasks: ['t1'] })
    await changes.ready
    notify('notifications/tasks', ids()[0], { taskId: 't1', status: 'completed' })
    expect((await changes.next()).value).toEqual({ type: 'task', id: 't1', status: 'completed' })
  })
})

describe('changes that are not read', () => {
  it('are dropped beyond a limit, which is reported', async () => {
    const queue = new ChangeQueue(3)
    for (let i = 0; i < 10; i++) queue.push({ type: 'resource', uri: `${i}` })
    expect((await queue.next()).value).toEqual({ type: 'lagged', missed: 7 })
    const rest = [await queue.next(), await queue.next(), await queue.next()]
    expect(rest.map(({ value }: Loose) => value.uri)).toEqual(['7', '8', '9'])
    queue.push({ type: 'tools' })
    expect((await queue.next()).value).toEqual({ type: 'tools' })
  })

  it('can still be read after the end, followed by the error, once', async () => {
    const queue = new ChangeQueue()
    queue.push({ type: 'tools' })
    queue.end(new Error('over'))
    queue.push({ type: 'prompts' })
    expect((await queue.next()).value).toEqual({ type: 'tools' })
    await expect(queue.next()).rejects.toThrow('over')
    expect((await queue.next()).done).toBe(true)
  })

  it('are passed to several readers one by one', async () => {
    const queue = new ChangeQueue()
    const readers = [queue.next(), queue.next(), queue.next()]
    queue.push({ type: 'tools' })
    queue.push({ type: 'prompts' })
    queue.end(new Error('over'))
    expect(await readers[0]).toMatchObject({ value: { type: 'tools' } })
    expect(await readers[1]).toMatchObject({ value: { type: 'prompts' } })
    await expect(readers[2]).rejects.toThrow('over')
  })
})

describe('a change of era', () => {
  it('keeps the subscriptions', async () => {
    const old = sessionServer('2025-11-25', {
      'resources/subscribe': () => ({}),
      'resources/unsubscribe': vi.fn(() => ({})),
    })
    const { server: young, ids, notify } = listening()
    young.on('initialize', () => {
      throw new RpcError(-32022, 'Unsupported')
    })
    let server: ScriptedServer = old
    await using client = await openClient(() => server.dial(), quiet)
    const changes = client.changes({ resources: ['file:///a'] })
    await changes.ready
    server = young
    await old.disconnect()
    expect((await changes.next()).value).toEqual({ type: 'reconnected' })
    notify(updated, ids()[0], { uri: 'file:///a' })
    expect((await changes.next()).value).toEqual({ type: 'resource', uri: 'file:///a' })
    expect(young.methods()).not.toContain('resources/unsubscribe')
  })
})
