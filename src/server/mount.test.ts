import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { allRevisions } from '../../test/support/answering-client.ts'
import { connect } from '../connect.ts'
import { Server } from './server.ts'

function clock(options: { readonly own?: boolean } = {}) {
  const context = () => ({ zone: 'own' })
  const server = new Server<{ zone: string }>(
    { name: 'clock', version: '1' },
    options.own ? { context } : {},
  )
  server.tool('now', {}, (_, ctx) => `${ctx.env.zone} ${ctx.caller.principal?.id}`)
  server.tool('ask', {}, async (_, ctx) => {
    const { ok } = await ctx.elicit({ message: 'Sure?', schema: z.object({ ok: z.boolean() }) })
    return `${ok}`
  })
  server.tool('long', { task: 'optional' }, async () => {
    await new Promise(resolve => setImmediate(resolve))
    return 'done'
  })
  server.prompt(
    'greet',
    { args: z.object({ name: z.string() }), complete: { name: () => ['Ada'] } },
    ({ name }) => `Hi ${name}`,
  )
  server.resource('face', 'clock://face', {}, () => 'round')
  server.resourceTemplate('zone', 'clock://zones/{id}', {}, ({ id }) => id)
  return server
}

function outer() {
  return new Server({ name: 'outer', version: '1' }, { context: () => ({ zone: 'outer' }) })
}

async function names(list: AsyncIterable<{ readonly name: string }>): Promise<string[]> {
  const found: string[] = []
  for await (const { name } of list) found.push(name)
  return found
}

describe.each(allRevisions)('a mounted server, in %s', revision => {
  test('shows its features among those of the other', async () => {
    await using server = outer()
    server.tool('own', {}, () => 'own')
    server.mount(clock(), { prefix: 'clock__' })
    const elicit = () => ({ action: 'accept', content: { ok: true } }) as const
    const who = { principal: { id: 'ada' }, elicit, revisions: [revision] }
    await using client = await connect(server, who)
    expect(await names(client.tools())).toEqual(['own', 'clock__now', 'clock__ask', 'clock__long'])
    expect((await client.call('clock__now')).text).toBe('outer ada')
    await expect(client.call('now')).rejects.toMatchObject({ kind: 'tool_not_found' })
    if (revision >= '2025-06-18') expect((await client.call('clock__ask')).text).toBe('true')
    expect((await client.call('clock__long')).text).toBe('done')
    expect(await names(client.prompts())).toEqual(['clock__greet'])
    const { messages } = await client.prompt('clock__greet', { name: 'Bob' })
    expect(messages).toMatchObject([{ content: { text: 'Hi Bob' } }])
    expect((await client.complete({ prompt: 'clock__greet' }, 'name', '')).values).toEqual(['Ada'])
    expect((await client.read('clock://face')).text).toBe('round')
    expect((await client.read('clock://zones/utc')).text).toBe('utc')
  })

  test('notifies the clients of the other of its changes', async () => {
    await using server = outer()
    const inner = clock()
    server.mount(inner)
    await using client = await connect(server, { revisions: [revision] })
    await using changes = client.changes({ tools: true, resources: ['clock://face'] })
    await changes.ready
    inner.tool('later', {}, () => 'late')
    inner.updated('clock://face')
    const seen = new Set<string>()
    for await (const change of changes) {
      seen.add(change.type)
      if (seen.size === 2) break
    }
    expect([...seen].sort()).toEqual(['resource', 'tools'])
    expect((await client.call('later')).text).toBe('late')
  })
})

test('has an environment and middlewares of its own, inside those of the other', async () => {
  await using server = outer()
  const inner = clock({ own: true })
  const order: string[] = []
  server.around('tools/call', (next, { name }, { env }) => {
    order.push(`outer ${name} ${env.zone}`)
    return next()
  })
  inner.around('tools/call', (next, { name }, { env }) => {
    order.push(`inner ${name} ${env.zone}`)
    return next()
  })
  let wrapped = 0
  inner.use(next => {
    wrapped++
    return (message, exchange) => {
      order.push(`use ${message.method}`)
      return next(message, exchange)
    }
  })
  server.mount(inner, { prefix: 'a_' })
  await using client = await connect(server)
  expect((await client.call('a_now')).text).toBe('own undefined')
  expect((await client.call('a_now')).text).toBe('own undefined')
  expect(order.slice(0, 3)).toEqual(['outer a_now outer', 'use tools/call', 'inner now own'])
  expect(wrapped).toBe(1)
  expect((await inner.call('now')).text).toBe('own undefined')
})

test('decides by its own rules which callers see its features', async () => {
  await using server = outer()
  const inner = new Server(
    { name: 'i', version: '1' },
    {
      context: async ({ principal }) => ({ isAdmin: principal?.id === 'ada' }),
    },
  )
  inner.tool('purge', { visible: (_, env) => env.isAdmin }, () => 'purged')
  server.mount(inner)
  await using admin = await connect(server, { principal: { id: 'ada' } })
  await using guest = await connect(server, { principal: { id: 'bob' } })
  expect(await names(admin.tools())).toEqual(['purge'])
  expect((await admin.call('purge')).text).toBe('purged')
  expect(await names(guest.tools())).toEqual([])
  await expect(guest.call('purge')).rejects.toMatchObject({ kind: 'tool_not_found' })
})

test('follows what changes, disappears, and returns', async () => {
  await using server = outer()
  const inner = new Server({ name: 'i', version: '1' })
  const tool = inner.tool('t', { description: 'one' }, () => 'one')
  const mount = server.mount(inner, { prefix: 'i_' })
  await using client = await connect(server)
  tool.update({ description: 'two' }, () => 'two')
  expect((await client.call('i_t')).text).toBe('two')
  tool.disable()
  expect(await names(client.tools({ fresh: true }))).toEqual([])
  tool.enable()
  expect(await names(client.tools({ fresh: true }))).toEqual(['i_t'])
  tool.remove()
  expect(await names(client.tools({ fresh: true }))).toEqual([])
  inner.tool('t', {}, () => 'three')
  expect((await client.call('i_t')).text).toBe('three')
  mount.remove()
  mount.remove()
  expect(await names(client.tools({ fresh: true }))).toEqual([])
  inner.tool('u', {}, () => '')
  expect(await names(client.tools({ fresh: true }))).toEqual([])
})

test('is mounted several times, and on servers that are mounted', async () => {
  await using server = outer()
  const middle = new Server({ name: 'm', version: '1' })
  const inner = new Server({ name: 'i', version: '1' })
  inner.tool('t', {}, () => 'deep')
  middle.mount(inner, { prefix: 'i_' })
  server.mount(middle, { prefix: 'a_' })
  server.mount(middle, { prefix: 'b_' })
  await using client = await connect(server)
  expect(await names(client.tools())).toEqual(['a_i_t', 'b_i_t'])
  expect((await client.call('b_i_t')).text).toBe('deep')
})

test('is refused for a taken name, and changes nothing', async () => {
  const reported: unknown[] = []
  const server = new Server(
    { name: 'o', version: '1' },
    { onError: error => void reported.push(error) },
  )
  server.prompt('greet', {}, () => '')
  expect(() => server.mount(clock())).toThrow('duplicate prompt "greet"')
  await using client = await connect(server)
  await expect(client.call('now')).rejects.toMatchObject({ code: -32601 })
  expect(() => server.mount(server)).toThrow('a server cannot be mounted on itself')
  expect(() => server.mount(clock(), { prefx: 'a' } as never)).toThrow('did you mean "prefix"?')
  const inner = new Server({ name: 'i', version: '1' })
  server.mount(inner)
  inner.prompt('greet', {}, () => '')
  expect(reported).toMatchObject([{ message: expect.stringContaining('is left out') }])
})
