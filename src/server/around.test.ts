import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import { allRevisions } from '../../test/support/answering-client.ts'
import { connect } from '../connect.ts'
import { errors } from '../mcp/errors/constructors.ts'
import type { CallToolParams } from '../mcp/types/tools.ts'
import { Server } from './server.ts'

const info = { name: 'a', version: '1' }

describe.each(allRevisions)('a middleware around a method, in %s', revision => {
  test('sees params, caller and environment, and changes params and result', async () => {
    await using server = new Server(info, {
      context: ({ headers }) => ({ user: headers['x-user'] }),
    })
    const log: string[] = []
    server.around('tools/call', async (next, params, ctx) => {
      expectTypeOf(params).toEqualTypeOf<CallToolParams>()
      log.push(`${params.name} by ${ctx.env.user} as ${ctx.caller.principal?.id} in ${ctx.method}`)
      const result = await next({ ...params, arguments: { ...params.arguments, b: 2 } })
      return 'content' in result ? { ...result, _meta: { seen: true } } : result
    })
    server.around('tools/list', async next => {
      const { tools, ...rest } = await next()
      return { ...rest, tools: tools.filter(({ name }) => name !== 'hidden') }
    })
    const input = z.object({ a: z.number(), b: z.number().optional() })
    server.tool('add', { input }, ({ a, b = 0 }) => `${a + b}`)
    server.tool('hidden', {}, () => '')
    const who = { principal: { id: 'ada' }, headers: { 'x-user': 'Ada' } }
    await using client = await connect(server, { ...who, revisions: [revision] })
    expect(await client.call('add', { a: 1 })).toMatchObject({ text: '3', meta: { seen: true } })
    expect(log).toEqual(['add by Ada as ada in tools/call'])
    const names: string[] = []
    for await (const { name } of client.tools()) names.push(name)
    expect(names).toEqual(['add'])
  })

  test('answers by itself, and refuses', async () => {
    await using server = new Server(info)
    server.tool('t', {}, () => 'tool')
    server.around('tools/call', (next, params) => {
      if (params.arguments?.refuse === true) throw errors.accessDenied({ resource: 't' })
      return params.arguments?.skip === true
        ? { content: [{ type: 'text', text: 'mine' }] }
        : next()
    })
    await using client = await connect(server, { revisions: [revision] })
    expect((await client.call('t')).text).toBe('tool')
    expect((await client.call('t', { skip: true })).text).toBe('mine')
    await expect(client.call('t', { refuse: true })).rejects.toMatchObject({
      kind: 'access_denied',
    })
  })

  test('surrounds every round of input', async () => {
    await using server = new Server(info)
    let runs = 0
    server.around('tools/call', next => {
      runs++
      return next()
    })
    server.tool('ask', {}, async (_, ctx) => {
      const { ok } = await ctx.elicit({ message: 'Sure?', schema: z.object({ ok: z.boolean() }) })
      return `${ok}`
    })
    const elicit = () => ({ action: 'accept', content: { ok: true } }) as const
    await using client = await connect(server, { elicit, revisions: [revision] })
    if (revision < '2025-06-18') return
    expect((await client.call('ask')).text).toBe('true')
    expect(runs).toBe(revision === '2026-07-28' ? 2 : 1)
  })
})

test('the first middleware is outermost, and keeps its variables to one request', async () => {
  await using server = new Server(info)
  const order: string[] = []
  for (const name of ['one', 'two']) {
    server.around('tools/call', async (next, { arguments: args }) => {
      const mine = args?.id
      order.push(`${name} ${mine}`)
      const result = await next()
      order.push(`${name} ${mine} done`)
      return result
    })
  }
  server.tool('t', { input: z.object({ id: z.number() }) }, async ({ id }) => {
    await null
    return `${id}`
  })
  await using client = await connect(server)
  const answers = await Promise.all([client.call('t', { id: 1 }), client.call('t', { id: 2 })])
  expect(answers.map(({ text }) => text)).toEqual(['1', '2'])
  for (const id of [1, 2]) {
    const own = order.filter(line => line.includes(` ${id}`))
    expect(own).toEqual([`one ${id}`, `two ${id}`, `two ${id} done`, `one ${id} done`])
  }
})

test('a middleware that returns nothing is reported', async () => {
  const reported: unknown[] = []
  await using server = new Server(info, { onError: error => void reported.push(error) })
  server.tool('t', {}, () => '')
  server.around('tools/call', (() => {}) as never)
  await using client = await connect(server)
  await expect(client.call('t')).rejects.toThrow('Internal error')
  expect(reported).toMatchObject([{ message: expect.stringContaining('usually that of next()') }])
})

test.each([
  ['tool/call', /"tool\/call" is not a request of a client/],
  ['notifications/initialized', /is not a request of a client/],
  ['sampling/createMessage', /is not a request of a client/],
  ['initialize', /use server\.use\(\)/],
])('around("%s") is refused', (method, message) => {
  expect(() => new Server(info).around(method as never, next => next())).toThrow(message)
})

test('a middleware must be a function', () => {
  const wrong = () => new Server(info).around('tools/call', undefined as never)
  expect(wrong).toThrow('the middleware must be a function')
})
