import { describe, expect, test } from 'vitest'
import { allRevisions } from '../../test/support/answering-client.ts'
import { connect } from '../connect.ts'
import { deferred } from '../util/promises.ts'
import { Server } from './server.ts'

const info = { name: 'a', version: '1' }
const ada = { id: 'ada', roles: ['admin'] }
const bob = { id: 'bob', claims: { plan: 'free' } }

function make() {
  const reported: unknown[] = []
  const server = new Server(info, { onError: error => void reported.push(error), pageSize: 2 })
  const admin = {
    visible: (caller: { principal?: { roles?: readonly string[] } }) =>
      caller.principal?.roles?.includes('admin') === true,
  }
  server.tool('all', {}, () => 'all')
  server.tool('purge', admin, () => 'purged')
  server.tool('also', {}, () => 'also')
  server.prompt('secret', admin, () => 'secret')
  server.resource('secret', 'a://secret', admin, () => 'secret')
  server.resourceTemplate(
    'secrets',
    'a://secrets/{id}',
    { ...admin, complete: { id: () => ['1'] } },
    ({ id }) => id,
  )
  server.resourceTemplate('any', 'a://{+rest}', {}, ({ rest }) => `any ${rest}`)
  return { server, reported }
}

async function names(list: AsyncIterable<{ readonly name: string }>): Promise<string[]> {
  const found: string[] = []
  for await (const { name } of list) found.push(name)
  return found
}

describe.each(allRevisions)('what only some callers see, in %s', revision => {
  const as = (server: Server, principal?: { id: string }) =>
    connect(server, { principal, revisions: [revision] })

  test('is listed, called, read and completed for them alone', async () => {
    await using server = make().server
    await using admin = await as(server, ada)
    await using guest = await as(server, bob)
    expect(await names(admin.tools())).toEqual(['all', 'purge', 'also'])
    expect(await names(guest.tools())).toEqual(['all', 'also'])
    expect((await admin.call('purge')).text).toBe('purged')
    const unknown = guest
      .call('nothing')
      .catch(error => ({ ...error, data: undefined, message: '' }))
    const hidden = guest.call('purge').catch(error => ({ ...error, data: undefined, message: '' }))
    expect(await hidden).toEqual(await unknown)
    expect(await names(admin.prompts())).toEqual(['secret'])
    expect(await names(guest.prompts())).toEqual([])
    await expect(guest.prompt('secret')).rejects.toMatchObject({ kind: 'prompt_not_found' })
    expect(await names(admin.resources())).toEqual(['secret'])
    expect(await names(guest.resources())).toEqual([])
    expect((await admin.read('a://secret')).text).toBe('secret')
    expect(await names(guest.resourceTemplates())).toEqual(['any'])
    // Another template that the caller sees answers instead.
    expect((await guest.read('a://secrets/1')).text).toBe('any secrets/1')
    expect((await admin.read('a://secrets/1')).text).toBe('1')
    const completed = await admin.complete({ resource: 'a://secrets/{id}' }, 'id', '')
    expect(completed.values).toEqual(['1'])
    await expect(guest.complete({ resource: 'a://secrets/{id}' }, 'id', '')).rejects.toThrow()
  })

  test('has a notification when the answer changes', async () => {
    let plan = 'free'
    await using server = new Server(info)
    server.tool('paid', { visible: () => plan === 'paid' }, () => 'ok')
    await using one = await as(server, ada)
    await using two = await as(server, bob)
    const changes = [one, two].map(client => client.changes({ tools: true }))
    await Promise.all(changes.map(change => change.ready))
    expect(await names(one.tools())).toEqual([])
    plan = 'paid'
    server.changed('tools', { principal: ada })
    const seen: string[] = []
    for await (const change of changes[0] ?? []) {
      seen.push(change.type)
      break
    }
    expect(seen).toEqual(['tools'])
    expect(await names(one.tools())).toEqual(['paid'])
    server.changed('tools')
    for await (const change of changes[1] ?? []) {
      expect(change.type).toBe('tools')
      break
    }
  })
})

test('by the capabilities of the client', async () => {
  await using server = new Server(info)
  server.tool(
    'asks',
    { visible: caller => caller.capabilities.elicitation !== undefined },
    () => '',
  )
  await using able = await connect(server, { elicit: () => ({ action: 'decline' }) })
  await using unable = await connect(server)
  expect(await names(able.tools())).toEqual(['asks'])
  expect(await names(unable.tools())).toEqual([])
})

test('by the environment of the request', async () => {
  await using server = new Server(info, {
    context: async ({ principal }) => ({ plan: principal?.claims?.plan ?? 'none' }),
  })
  server.tool('upgrade', { visible: (_, env) => env.plan === 'free' }, () => '')
  await using guest = await connect(server, { principal: bob })
  await using other = await connect(server)
  expect(await names(guest.tools())).toEqual(['upgrade'])
  expect(await names(other.tools())).toEqual([])
})

test.each([
  [
    'that throws',
    () => {
      throw new Error('no plan')
    },
    'no plan',
  ],
  ['that is asynchronous', async () => true, 'visible() must return true or false'],
  ['that returns something else', () => 'yes', 'visible() must return true or false'],
])('a rule %s hides the tool and is reported', async (_, visible, message) => {
  const { server, reported } = make()
  server.tool('odd', { visible: visible as never }, () => '')
  await using client = await connect(server)
  expect(await names(client.tools())).not.toContain('odd')
  await expect(client.call('odd')).rejects.toMatchObject({ kind: 'tool_not_found' })
  expect(reported).toMatchObject([
    { message: expect.stringContaining(message) },
    { message: expect.stringContaining(message) },
  ])
})

test('is never cached for others', async () => {
  await using server = make().server
  await using client = await connect(server, { principal: ada, revisions: ['2026-07-28'] })
  expect(await client.request('tools/list')).toMatchObject({ cacheScope: 'private' })
  const cached = new Server(info, { cache: { ttlMs: 1000, cacheScope: 'public' } })
  const visible = () => true
  expect(() => cached.tool('t', { visible }, () => '')).toThrow('need a private list')
  const contents = { visible, cache: { cacheScope: 'public' } } as const
  expect(() => make().server.resource('r', 'a://r', contents, () => '')).toThrow('a public "cache"')
})

test('has cursors that belong to one principal', async () => {
  await using server = make().server
  await using admin = await connect(server, { principal: ada })
  await using guest = await connect(server, { principal: bob })
  const { nextCursor } = await admin.request('tools/list')
  expect(nextCursor).toBeTypeOf('string')
  await expect(guest.request('tools/list', { cursor: nextCursor })).rejects.toMatchObject({
    code: -32602,
  })
  expect(await admin.request('tools/list', { cursor: nextCursor })).toMatchObject({
    tools: [{ name: 'also' }],
  })
})

test('cannot be subscribed to by others', async () => {
  await using server = make().server
  await using session = await connect(server, { principal: bob, revisions: ['2025-11-25'] })
  const refused = session.request('resources/subscribe', { uri: 'a://secret' })
  await expect(refused).rejects.toMatchObject({ kind: 'resource_not_found' })
  // A listen stream confirms what it follows.
  const acknowledged: unknown[] = []
  const notified = deferred<void>()
  await using stream = await connect(server, {
    principal: bob,
    revisions: ['2026-07-28'],
    onNotification: (method, params) => {
      if (method !== 'notifications/subscriptions/acknowledged') return
      acknowledged.push(params?.notifications)
      notified.resolve()
    },
  })
  const changes = stream.changes({ resources: ['a://secret', 'a://open', 'b://unknown'] })
  await Promise.all([changes.ready, notified.promise])
  expect(acknowledged).toMatchObject([{ resourceSubscriptions: ['a://open', 'b://unknown'] }])
})
