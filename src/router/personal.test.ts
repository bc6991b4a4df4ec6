import { describe, expect, test } from 'vitest'
import { connect } from '../connect.ts'
import { errors } from '../mcp/errors/constructors.ts'
import type { ServerOptions } from '../server/options.ts'
import { Server } from '../server/server.ts'
import { Router } from './router.ts'

const info = { name: 'office', version: '1' }
const boss = { principal: { id: 'boss', roles: ['admin'] } }
const guest = { principal: { id: 'guest' } }
const revisions = ['2025-11-25', '2026-07-28'] as const

function office(options: ServerOptions = {}) {
  const server = new Server(info, options)
  const isBoss = (caller: { principal?: { id: string } }) => caller.principal?.id === 'boss'
  server.tool('who', {}, (_, ctx) => JSON.stringify([ctx.caller.principal, ctx.headers['x-desk']]))
  server.tool('fire', { visible: isBoss }, () => 'Fired')
  server.tool('file', { task: 'required' }, (_, ctx) => `Filed for ${ctx.caller.principal?.id}`)
  server.prompt('praise', { visible: isBoss }, () => 'Praise me')
  server.resource('safe', 'office://safe', { visible: isBoss }, () => 'Gold')
  server.resourceTemplate('file', 'office://files/{name}', { visible: isBoss }, ({ name }) => name)
  server.tool(
    'survey',
    { visible: ({ capabilities }) => capabilities.elicitation !== undefined },
    () => 'Asked',
  )
  return server
}

async function namesOf(entries: AsyncIterable<{ readonly name: string }>) {
  const names: string[] = []
  for await (const { name } of entries) names.push(name)
  return names
}

describe.each(revisions)('a server that speaks %s behind a router', upstream => {
  describe.each(revisions)('for callers of %s', revision => {
    function open() {
      const server = office({ revisions: [upstream] })
      const plain = new Server({ name: 'plain', version: '1' })
      plain.tool('time', {}, () => 'Noon')
      return new Router({ servers: { office: server, plain } })
    }

    test('gets the principal and the headers of each caller', async () => {
      await using router = open()
      const headers = { 'X-Desk': '7' }
      await using one = await connect(router, { ...boss, headers, revisions: [revision] })
      await using other = await connect(router, { ...guest, revisions: [revision] })
      await using nobody = await connect(router, { revisions: [revision] })
      const answers = await Promise.all(
        [one, other, nobody].map(client => client.call('office__who')),
      )
      expect(answers.map(({ text }) => text)).toEqual([
        '[{"id":"boss","roles":["admin"]},"7"]',
        '[{"id":"guest"},null]',
        '[null,null]',
      ])
    })

    test('lists what each caller sees, and runs what it lists', async () => {
      await using router = open()
      await using one = await connect(router, { ...boss, revisions: [revision] })
      await using other = await connect(router, { ...guest, revisions: [revision] })
      expect(await namesOf(one.tools())).toEqual([
        'office__who',
        'office__fire',
        'office__file',
        'plain__time',
      ])
      expect(await namesOf(other.tools())).toEqual(['office__who', 'office__file', 'plain__time'])
      expect(await namesOf(one.prompts())).toEqual(['office__praise'])
      expect(await namesOf(other.prompts())).toEqual([])
      expect(await namesOf(one.resources())).toEqual(['safe'])
      expect(await namesOf(other.resources())).toEqual([])
      expect(await namesOf(one.resourceTemplates())).toEqual(['file'])

      expect((await one.call('office__fire')).text).toBe('Fired')
      expect((await one.prompt('office__praise')).messages).toHaveLength(1)
      expect((await one.read('office://safe')).contents).toMatchObject([{ text: 'Gold' }])
      expect((await one.read('office://files/a')).contents).toMatchObject([{ text: 'a' }])
      await expect(other.call('office__fire')).rejects.toMatchObject({ kind: 'tool_not_found' })
      await expect(other.prompt('office__praise')).rejects.toMatchObject({
        kind: 'prompt_not_found',
      })
      await expect(other.read('office://safe')).rejects.toMatchObject({
        kind: 'resource_not_found',
      })
    })

    test('follows the task of a caller', async () => {
      await using router = open()
      await using one = await connect(router, { ...boss, revisions: [revision] })
      // In sessions the list tells the client to call it as a task.
      await namesOf(one.tools())
      expect((await one.call('office__file')).text).toBe('Filed for boss')
    })

    test('calls what only some callers see without listing it first', async () => {
      await using router = open()
      await using one = await connect(router, { ...boss, revisions: [revision] })
      expect((await one.call('office__fire')).text).toBe('Fired')
    })

    test('lists by the capabilities of the caller', async () => {
      await using router = open()
      const elicit = () => ({ action: 'decline' }) as const
      await using able = await connect(router, { elicit, revisions: [revision] })
      await using unable = await connect(router, { revisions: [revision] })
      expect(await namesOf(able.tools())).toContain('office__survey')
      expect(await namesOf(unable.tools())).not.toContain('office__survey')
      expect((await able.call('office__survey')).text).toBe('Asked')
    })
  })
})

test('a cursor of a personal list belongs to its principal', async () => {
  await using router = new Router({ servers: { office: office() }, pageSize: 1 })
  await using one = await connect(router, boss)
  await using other = await connect(router, guest)
  expect(await namesOf(one.tools())).toEqual(['office__who', 'office__fire', 'office__file'])
  const { nextCursor } = await one.request('tools/list', {})
  await expect(other.request('tools/list', { cursor: nextCursor })).rejects.toMatchObject({
    kind: 'invalid_cursor',
  })
})

test('tools that only some callers see are found by words, by those callers', async () => {
  await using router = new Router({ servers: { office: office() }, toolSearch: { above: 0 } })
  await using one = await connect(router, boss)
  await using other = await connect(router, guest)
  const search = { query: 'fire' }
  expect((await one.call('search_tools', search)).text).toContain('office__fire')
  expect((await other.call('search_tools', search)).text).not.toContain('office__fire')
})

test.each(revisions)('a change for one principal reaches its clients, in %s', async revision => {
  const server = office()
  await using router = new Router({ servers: { office: server } })
  await router.ready()
  await using one = await connect(router, { ...boss, revisions: [revision] })
  let count = 0
  const onNotification = (method: string) => {
    if (method === 'notifications/tools/list_changed') count++
  }
  await using other = await connect(router, { ...guest, revisions: [revision], onNotification })
  const changes = one.changes({ tools: true })
  const others = other.changes({ tools: true })
  await Promise.all([changes.ready, others.ready])
  server.changed('tools', boss)
  expect((await changes.next()).value).toMatchObject({ type: 'tools' })
  server.changed('tools', { principal: 'guest' })
  expect((await others.next()).value).toMatchObject({ type: 'tools' })
  expect(count).toBe(1)
})

test('routers pass the caller on to each other', async () => {
  const inner = new Router({ servers: { office: office() } })
  await using outer = new Router({ servers: { inner } })
  await using one = await connect(outer, boss)
  expect(await namesOf(one.tools())).toContain('inner__office__fire')
  expect((await one.call('inner__office__who')).text).toContain('boss')
  await inner.close()
})

test('a list that cannot be read as the caller is reported, and the shared one is shown', async () => {
  const reports: unknown[] = []
  const server = office()
  server.around('tools/list', (next, params, ctx) => {
    if (ctx.caller.principal?.id === 'boss') throw errors.internalError()
    return next(params)
  })
  await using router = new Router({
    servers: { office: server },
    onError: error => void reports.push(error),
  })
  await using one = await connect(router, boss)
  expect(await namesOf(one.tools())).toEqual(['office__who', 'office__file'])
  expect(reports).toHaveLength(1)
})
