import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { RpcError } from '../../src/jsonrpc/error.ts'
import { listen } from '../../src/listen.ts'
import { RememberedLists, Router, type RouterOptions } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { deferred } from '../../src/util/promises.ts'
import { until } from '../support/processes.ts'
import { caller, failureOf } from './routed.ts'

/** A server at an address, which answers nothing while it is held. */
async function served() {
  const server = new Server({ name: 'it', version: '1' }, { onError: () => {} })
  const tool = server.tool('work', { task: 'optional' }, () => 'done')
  const state = { requests: 0, go: Promise.resolve() }
  server.use(next => async (message, exchange) => {
    state.requests++
    await state.go
    return next(message, exchange)
  })
  const listener = await listen(server, 'http://127.0.0.1:0/mcp')
  onTestFinished(() => listener.close())
  const hold = (): (() => void) => {
    const { promise, resolve } = deferred<void>()
    state.go = promise
    return resolve
  }
  return { server, tool, state, listener, hold, url: listener.address }
}

function router(servers: RouterOptions['servers'], options: RouterOptions = {}): Router {
  const made = new Router({ servers, onError: () => {}, ...options })
  onTestFinished(() => made.close({ drainMs: 0 }))
  return made
}

/** The lists of a first run, as they come out of a file. */
async function fromFirstRun(servers: NonNullable<RouterOptions['servers']>) {
  const remembered = new RememberedLists()
  let saves = 0
  const first = router(servers, { remembered, onRemembered: () => saves++ })
  await first.ready()
  await until(() => saves > 0)
  await first.close({ drainMs: 0 })
  const next = new RememberedLists()
  next.import(JSON.parse(JSON.stringify(remembered.export())))
  return next
}

test('a router answers its first list at once from memory, and calls wait for the server', async () => {
  const { url, hold } = await served()
  const remembered = await fromFirstRun({ it: { url } })
  const start = hold()
  const client = await caller(router({ it: { url } }, { remembered }), { era: 'session' })
  const listed = await client.request('tools/list', {})
  expect(listed).toMatchObject({
    tools: [{ name: 'it__work', execution: { taskSupport: 'optional' } }],
  })
  expect(listed._meta).toBeUndefined()
  const call = client.call('it__work')
  start()
  expect((await call).text).toBe('done')
})

test('remembered lists are corrected when the server lists others', async () => {
  const { server, url, hold } = await served()
  const remembered = await fromFirstRun({ it: { url } })
  const start = hold()
  server.tool('more', {}, () => 'more')
  const client = await caller(router({ it: { url } }, { remembered }))
  const changes = client.changes({ tools: true })
  await changes.ready
  expect((await client.request('tools/list', {})).tools).toHaveLength(1)
  start()
  expect(await changes.next()).toMatchObject({ value: { type: 'tools' } })
  expect((await client.request('tools/list', {})).tools).toHaveLength(2)
  await changes.return()
})

test.each(['at-once', 'first-use'] as const)(
  'a tool that is not remembered is found once its server, started %s, lists it',
  async start => {
    const { server, url, hold } = await served()
    const remembered = await fromFirstRun({ it: { url } })
    const go = hold()
    server.tool('more', {}, () => 'more')
    const client = await caller(router({ it: { url, start } }, { remembered }))
    const call = client.call('it__more')
    go()
    expect((await call).text).toBe('more')
  },
)

test('remembered lists disappear where the server does not start', async () => {
  const { url, listener } = await served()
  const remembered = await fromFirstRun({ it: { url } })
  await listener.close()
  const clock = fakeClock()
  const second = router({ it: { url } }, { remembered, clock })
  await second.ready()
  expect(second.tools()).toHaveLength(1)
  await until(() => {
    clock.advance(limits.upstreamGraceMs.default)
    return second.tools().length === 0
  })
  const client = await caller(second)
  expect(await failureOf(client.call('it__work'))).toMatchObject({ code: -32000 })
})

test('another definition of the same name remembers nothing', async () => {
  const { url, hold } = await served()
  const remembered = await fromFirstRun({ it: { url } })
  hold()
  const other = router({ it: { url: `${url}?other` } }, { remembered })
  expect(other.tools()).toEqual([])
})

test('nothing secret is remembered', async () => {
  const { url } = await served()
  const headers = { authorization: 'Bearer very-secret' }
  const remembered = await fromFirstRun({ it: { url, headers } })
  expect(JSON.stringify(remembered.export())).not.toContain('very-secret')
  const other = router({ it: { url, headers: { authorization: 'new' } } }, { remembered })
  expect(other.tools()).toHaveLength(1)
})

test('a server that starts on first use is not started by a list from memory, but by a call', async () => {
  const { url, state } = await served()
  const remembered = await fromFirstRun({ it: { url } })
  state.requests = 0
  const lazy = router({ it: { url, start: 'first-use' } }, { remembered })
  await lazy.ready()
  const client = await caller(lazy)
  expect((await client.request('tools/list', {})).tools).toHaveLength(1)
  expect(state.requests).toBe(0)
  expect(lazy.server('it')).toMatchObject({ level: 'ok', tools: 1, instances: [{ state: 'idle' }] })
  expect((await client.call('it__work')).text).toBe('done')
  expect(lazy.server('it')).toMatchObject({ level: 'ok', instances: [{ state: 'ready' }] })
})

test('a process is started once first lists were answered from memory, or by a call', async () => {
  const args = [fileURLToPath(new URL('../fixtures/everything-stdio.js', import.meta.url))]
  const servers = { it: { command: process.execPath, args } }
  const remembered = await fromFirstRun(servers)
  const stateOf = (of: Router) => of.server('it')?.instances[0]?.state
  const clock = fakeClock()
  const waiting = router(servers, { remembered, clock })
  const client = await caller(waiting)
  const { tools } = await client.request('tools/list', {})
  expect([tools.length > 0, stateOf(waiting)]).toEqual([true, 'idle'])
  clock.advance(2 * limits.rememberedStartMs.default)
  await waiting.ready()
  expect(stateOf(waiting)).toBe('ready')
  const called = router(servers, { remembered, clock: fakeClock() })
  const other = await caller(called)
  await other.request('tools/call', { name: tools[0]?.name ?? '', arguments: {} }).catch(() => {})
  expect(stateOf(called)).toBe('ready')
})

test.each(['tools/list', 'tools/call'] as const)(
  'a server that starts on first use and is not remembered is started by %s',
  async method => {
    const { url, state } = await served()
    const lazy = router({ it: { url, start: 'first-use' } })
    await lazy.ready()
    expect(state.requests).toBe(0)
    const client = await caller(lazy)
    if (method === 'tools/list') expect((await client.request(method, {})).tools).toHaveLength(1)
    else expect((await client.call('it__work')).text).toBe('done')
  },
)

test('a list that failed is not remembered, and the others are', async () => {
  const { server, url, hold } = await served()
  let isFailing = true
  server.resource('text', 'memo://text', {}, () => 'text')
  server.use(next => (message, exchange) => {
    if (isFailing && message.method === 'resources/list') throw new RpcError(-32603, 'no database')
    return next(message, exchange)
  })
  const remembered = await fromFirstRun({ it: { url } })
  const [entry] = Object.values(remembered.export().servers)
  expect(Object.keys((entry as { lists: object }).lists)).not.toContain('resources')
  const start = hold()
  isFailing = false
  const client = await caller(router({ it: { url } }, { remembered }))
  expect((await client.request('tools/list', {})).tools).toHaveLength(1)
  const resources = client.request('resources/list', {})
  start()
  expect((await resources).resources).toHaveLength(1)
})

test('a server that lists the same again changes nothing', async () => {
  const { url } = await served()
  const remembered = await fromFirstRun({ it: { url } })
  let saves = 0
  const second = router({ it: { url } }, { remembered, onRemembered: () => saves++ })
  const client = await caller(second, { era: 'session' })
  const changes = client.changes({ tools: true })
  await second.ready()
  expect((await client.call('it__work')).text).toBe('done')
  expect(saves).toBe(0)
  await changes.return()
})

test('a file of another kind is refused, and invalid entries of a file are left out', () => {
  const lists = new RememberedLists()
  for (const file of [null, [], {}, { version: 2, servers: {} }]) {
    expect(() => lists.import(file)).toThrow('not a file of remembered lists')
  }
  const d = { revision: '2025-11-25', capabilities: {}, lists: { tools: 1 } }
  lists.import({ version: 1, servers: { a: 1, b: { lists: {} }, c: { revision: 'x' }, d } })
  expect(lists.export().servers).toEqual({})
})
