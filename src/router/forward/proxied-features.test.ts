import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../connect.ts'
import { Server } from '../../server/server.ts'
import type { RouterOptions } from '../options.ts'
import { Router } from '../router.ts'

function makeServer(name: string): Server {
  const server = new Server({ name, version: '1.0.0' })
  const input = { type: 'object', properties: { city: { type: 'string' } } } as const
  const search = { description: 'Finds flights to a city.', input }
  server.tool('flights', search, ({ city }) => `${name}: ${city}`)
  server.tool('hotels', { description: 'Finds hotels.' }, () => name)
  server.resource('menu', `${name}://menu`, {}, () => 'soup')
  const complete = { day: (typed: string) => ['monday', 'friday'].filter(d => d.startsWith(typed)) }
  server.resourceTemplate('dish', `${name}://menu/{day}`, { complete }, ({ day }) => day)
  const args = { type: 'object', properties: { tone: { type: 'string' } } } as const
  const tones = { tone: () => ['formal', 'plain'] }
  server.prompt('report', { args, complete: tones }, ({ tone }) => `A ${tone} report.`)
  return server
}

async function collect<T, U>(entries: AsyncIterable<T>, of: (entry: T) => U): Promise<U[]> {
  const found: U[] = []
  for await (const entry of entries) found.push(of(entry))
  return found
}

async function open(revision: string, options: RouterOptions = {}) {
  const servers = { first: makeServer('first'), second: makeServer('second') }
  const router = new Router({ servers, ...options })
  onTestFinished(() => router.close())
  await router.ready()
  const client = await connect(router, { revisions: [revision as '2025-11-25'] })
  onTestFinished(() => client.close())
  return { client, servers }
}

describe.each(['2025-11-25', '2026-07-28'])('the features of all servers, in %s', revision => {
  test('are listed in the order of the servers', async () => {
    const { client } = await open(revision)
    const names = await collect(client.tools(), ({ name }) => name)
    expect(names).toEqual(['first__flights', 'first__hotels', 'second__flights', 'second__hotels'])
    const prompts = await collect(client.prompts(), ({ name }) => name)
    expect(prompts).toEqual(['first__report', 'second__report'])
    const templates = await collect(client.resourceTemplates(), one => one.uriTemplate)
    expect(templates).toEqual(['first://menu/{day}', 'second://menu/{day}'])
  })

  test('are forwarded to the server that has them', async () => {
    const { client } = await open(revision)
    expect((await client.call('second__flights', { city: 'Oslo' })).text).toBe('second: Oslo')
    expect((await client.read('second://menu')).text).toBe('soup')
    expect((await client.read('first://menu/monday')).text).toBe('monday')
    const { messages } = await client.prompt('first__report', { tone: 'plain' })
    expect(messages[0]?.content).toMatchObject({ text: 'A plain report.' })
  })

  test('are completed by the server that has them', async () => {
    const { client } = await open(revision)
    const tones = await client.complete({ prompt: 'second__report' }, 'tone', '')
    expect(tones.values).toEqual(['formal', 'plain'])
    const days = await client.complete({ resource: 'first://menu/{day}' }, 'day', 'm')
    expect(days.values).toEqual(['monday'])
  })

  test.each([
    ['a tool', 'first__trains', -32602],
    ['a tool of no server', 'third__flights', -32602],
  ])('do not include %s that does not exist', async (_, name, code) => {
    const { client } = await open(revision)
    await expect(client.call(name)).rejects.toMatchObject({ code })
  })

  test('do not include prompts, resources and references that do not exist', async () => {
    const { client } = await open(revision)
    await expect(client.prompt('first__poem')).rejects.toMatchObject({ kind: 'prompt_not_found' })
    await expect(client.read('third://menu')).rejects.toMatchObject({ kind: 'resource_not_found' })
    const wrong = client.complete({ resource: 'third://menu' }, 'day', '')
    await expect(wrong).rejects.toMatchObject({ code: -32602 })
  })

  test('report the changes of resources to subscribers', async () => {
    const { client, servers } = await open(revision)
    const changes = client.changes({ resources: ['second://menu'] })
    await changes.ready
    servers.second.updated('second://menu')
    expect((await changes.next()).value).toEqual({ type: 'resource', uri: 'second://menu' })
    await changes.return()
  })

  test('are found by words with tool search, and called by name', async () => {
    const { client } = await open(revision, { toolSearch: {} })
    const names = await collect(client.tools(), ({ name }) => name)
    expect(names).toEqual(['search_tools', 'call_tool'])
    const { text } = await client.call('search_tools', { query: 'flights city' })
    expect(text).toContain('first__flights')
    expect(text).not.toContain('first__hotels')
    const called = { name: 'second__flights', arguments: { city: 'Rome' } }
    expect((await client.call('call_tool', called)).text).toBe('second: Rome')
    expect((await client.call('first__hotels')).text).toBe('first')
  })
})
