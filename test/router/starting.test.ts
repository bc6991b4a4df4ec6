import { describe, expect, onTestFinished, test } from 'vitest'
import { ChannelError } from '../../src/jsonrpc/channel.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import { events } from '../../src/observe/events.ts'
import { Router, type RouterOptions } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { type Deferred, deferred } from '../../src/util/promises.ts'
import { until } from '../support/processes.ts'
import { worker } from './ledger.ts'
import { caller, failureOf } from './routed.ts'

const eras = ['session', 'stateless'] as const
const fiveSeconds = limits.upstreamWaitMs.default

/** A server with every kind of feature that can be connected once `started` is settled. */
function slow(started: Promise<void>): Endpoint {
  const server = new Server({ name: 'slow', version: '1' }, { onError: () => {} })
  server.tool('work', {}, () => 'done')
  server.prompt('plan', {}, () => 'planned')
  server.resource('one', 'x://one', {}, () => 'read')
  server.resourceTemplate('any', 'x://any/{id}', {}, () => 'read')
  return {
    profile: server.profile,
    revisions: server.revisions,
    handle: server.handle,
    attach: (channel, envelope) => {
      started.then(
        () => server.attach(channel, envelope),
        () => channel.close(),
      )
      return { close: () => channel.close() } as ReturnType<Endpoint['attach']>
    },
  }
}

/** A router with servers that are starting, and what ends that. */
function starting(names: readonly string[], options: RouterOptions = {}) {
  const clock = fakeClock()
  const started = new Map<string, Deferred<void>>(names.map(name => [name, deferred()]))
  const servers = Object.fromEntries(
    Array.from(started, ([name, { promise }]) => [
      name,
      { server: slow(promise), connectTimeoutMs: 60_000, health: { intervalMs: 0 } },
    ]),
  )
  const router = new Router({ servers, clock, onError: () => {}, ...options })
  onTestFinished(() => router.close({ drainMs: 0 }))
  return {
    clock,
    router,
    start: (name: string) => started.get(name)?.resolve(),
    fail: (name: string) => started.get(name)?.reject(new ChannelError('refused', 'no')),
  }
}

/** Whether a promise is settled, observed later. */
function settling(promise: Promise<unknown>): () => boolean {
  let isSettled = false
  const settled = (): void => {
    isSettled = true
  }
  promise.then(settled, settled)
  return () => isSettled
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
}

const lists = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const

describe.each(eras)('a %s caller', era => {
  test.each(lists)(
    'gets everything with its first %s, however slow servers start',
    async (method, member) => {
      const { router, clock, start } = starting(['a', 'b'])
      const client = await caller(router, { era })
      const listing = client.request(method, {})
      const isSettled = settling(listing)
      await turns()
      start('a')
      await until(() => router.server('a')?.level === 'ok')
      clock.advance(4 * fiveSeconds)
      await turns()
      expect(isSettled()).toBe(false)
      start('b')
      const listed: Readonly<Record<string, unknown>> = { ...(await listing) }
      // Resources have the same URIs on both servers.
      expect(listed[member]).toHaveLength(member === 'tools' || member === 'prompts' ? 2 : 1)
      expect(listed._meta ?? {}).not.toHaveProperty(['trunkline/unavailable'])
    },
  )

  test('gets its list at once when the server that it waits for fails', async () => {
    const { router, start, fail } = starting(['a', 'b'])
    const client = await caller(router, { era })
    const listing = client.request('tools/list', {})
    start('a')
    fail('b')
    expect(await listing).toMatchObject({
      tools: [{ name: 'a__work' }],
      _meta: { 'trunkline/unavailable': { b: 'it is restarting' } },
    })
  })

  test('calls a tool, a prompt and a resource of a server that is starting', async () => {
    const { router, clock, start } = starting(['a'])
    const client = await caller(router, { era })
    const calls = [
      client.request('tools/call', { name: 'a__work', arguments: {} }),
      client.request('prompts/get', { name: 'a__plan' }),
      client.request('resources/read', { uri: 'x://one' }),
    ]
    const states = calls.map(settling)
    await turns()
    clock.advance(4 * fiveSeconds)
    await turns()
    expect(states.map(isSettled => isSettled())).toEqual([false, false, false])
    start('a')
    await Promise.all(calls)
  })

  test('is answered that the server is starting when the wait ends', async () => {
    const { router, clock } = starting(['a'])
    const client = await caller(router, { era })
    const calls = [
      client.request('tools/call', { name: 'a__work', arguments: {} }),
      client.request('prompts/get', { name: 'a__plan' }),
      client.request('resources/read', { uri: 'x://one' }),
      client.request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'a__plan' },
        argument: { name: 'x', value: '' },
      }),
    ].map(failureOf)
    await turns()
    clock.advance(60_000)
    for (const call of calls) {
      expect(await call).toMatchObject({
        code: -32000,
        data: { server: 'a', retryAfterMs: expect.any(Number) },
      })
    }
  })

  test('does not wait for a server that cannot have the tool', async () => {
    const { router } = starting(['a'])
    const client = await caller(router, { era })
    const error = await failureOf(client.request('tools/call', { name: 'b__x', arguments: {} }))
    expect(error).toMatchObject({ kind: 'tool_not_found' })
  })

  test('may cancel while it waits', async () => {
    const { router, start } = starting(['a'])
    const client = await caller(router, { era })
    const stop = new AbortController()
    const listing = failureOf(client.request('tools/list', {}, { signal: stop.signal }))
    await turns()
    stop.abort(new Error('no longer needed'))
    expect(await listing).toMatchObject({ message: 'no longer needed' })
    start('a')
    expect(await client.request('tools/list', {})).toMatchObject({ tools: [{ name: 'a__work' }] })
  })

  test('waits no longer than startWaitMs', async () => {
    const { router, clock } = starting(['a'], { startWaitMs: 1000 })
    const client = await caller(router, { era })
    const listing = client.request('tools/list', {})
    await turns()
    clock.advance(1000)
    expect(await listing).toMatchObject({
      tools: [],
      _meta: { 'trunkline/unavailable': { a: 'it is starting' } },
    })
  })
})

test('a session that has its list does not wait for a server that is added', async () => {
  const { router, start } = starting(['a'])
  start('a')
  await router.ready()
  const client = await caller(router, { era: 'session' })
  await client.request('tools/list', {})
  router.register('b', { server: slow(new Promise(() => {})), connectTimeoutMs: 60_000 })
  expect(await client.request('tools/list', {})).toMatchObject({ tools: [{ name: 'a__work' }] })
})

test('tools are listed although another list of their server never comes', async () => {
  const server = new Server({ name: 'half', version: '1' })
  server.tool('work', {}, () => 'done')
  server.prompt('plan', {}, () => 'planned')
  server.use(
    next => (message, exchange) =>
      message.method === 'prompts/list' ? new Promise(() => {}) : next(message, exchange),
  )
  const router = new Router({ servers: { it: server }, clock: fakeClock(), onError: () => {} })
  onTestFinished(() => router.close({ drainMs: 0 }))
  const client = await caller(router)
  expect(await client.request('tools/list', {})).toMatchObject({ tools: [{ name: 'it__work' }] })
})

test('processes that start in turn are all there in the end', async () => {
  const names = ['a', 'b', 'c']
  const servers = Object.fromEntries(names.map(name => [name, worker({})]))
  const router = new Router({ servers, concurrentStarts: 1, onError: () => {} })
  onTestFinished(() => router.close({ drainMs: 0 }))
  const started: string[] = []
  const end = events.instanceStarted.subscribe(({ server }) => started.push(server))
  onTestFinished(end)
  const client = await caller(router)
  const { tools } = await client.request('tools/list', {})
  expect(new Set(tools.map(({ name }) => name.slice(0, 1)))).toEqual(new Set(names))
  expect(started).toEqual(names)
})

test('a list that changes all the time is read at most once in listChangesMs', async () => {
  const clock = fakeClock()
  const server = new Server({ name: 'restless', version: '1' })
  const tool = server.tool('work', {}, () => 'done')
  let reads = 0
  server.use(next => (message, exchange) => {
    if (message.method === 'tools/list') reads++
    return next(message, exchange)
  })
  const router = new Router({ servers: { it: server }, clock, onError: () => {} })
  onTestFinished(() => router.close({ drainMs: 0 }))
  await router.ready()
  const before = reads
  for (let change = 0; change < 50; change++) {
    tool.update({ description: `version ${change}` })
    await turns()
    clock.advance(limits.listChangesMs.default / 10)
    await turns()
  }
  clock.advance(2 * limits.listChangesMs.default)
  await turns()
  expect(reads - before).toBeGreaterThan(1)
  expect(reads - before).toBeLessThan(10)
  const client = await caller(router)
  expect(await client.request('tools/list', {})).toMatchObject({
    tools: [{ description: 'version 49' }],
  })
})
