import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import { events } from '../../src/observe/events.ts'
import { Router, type ToolSearchOptions } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { pollOptions } from '../support/poll-options.ts'
import { caller, failureOf, routed } from './routed.ts'

/** A server with many tools. */
function many(): Server {
  const server = new Server({ name: 'many', version: '1' })
  for (let at = 0; at < 20; at++) {
    server.tool(`filler_${at}`, { description: 'Does nothing of interest' }, () => 'nothing')
  }
  server.tool(
    'createIssue',
    {
      description: 'Opens a ticket in a repository',
      input: { type: 'object', properties: { title: { type: 'string' } } } as const,
    },
    ({ title }) => `created ${title}`,
  )
  server.tool('read_file', { description: 'Reads a file from disk' }, () => 'text')
  return server
}

async function searching(options: ToolSearchOptions, era: 'session' | 'stateless' = 'session') {
  const router = await routed({ it: many() }, { toolSearch: options })
  const client = await caller(router, { era })
  const names = async () => (await client.request('tools/list', {})).tools.map(({ name }) => name)
  return { client, names }
}

describe.each(['session', 'stateless'] as const)('a %s caller with tool search', era => {
  test('finds tools by words and calls them', async () => {
    const { client, names } = await searching({}, era)
    expect(await names()).toEqual(['search_tools', 'call_tool'])
    const { tools } = await client.request('tools/list', {})
    expect(tools[0]?.description).toContain('are not listed here: it.')
    for (const query of ['issue', 'open ticket', 'repo', 'create issue in a repository']) {
      const { text } = await client.call('search_tools', { query, limit: 1 })
      expect(text).toContain('"name":"it__createIssue"')
      expect(text).toContain('"title"')
    }
    const args = { name: 'it__createIssue', arguments: { title: 'x' } }
    expect((await client.call('call_tool', args)).text).toBe('created x')
    expect((await client.call('it__read_file')).text).toBe('text')
  })

  test('learns what is wrong with its arguments', async () => {
    const { client } = await searching({}, era)
    expect(await failureOf(client.call('search_tools'))).toMatchObject({ code: -32602 })
    expect(await failureOf(client.call('call_tool', {}))).toMatchObject({ code: -32602 })
    const self = client.call('call_tool', { name: 'call_tool' })
    expect(await failureOf(self)).toMatchObject({ code: -32602 })
    const unknown = client.call('call_tool', { name: 'it__none' })
    expect(await failureOf(unknown)).toMatchObject({ kind: 'tool_not_found' })
    expect((await client.call('search_tools', { query: 'zebra' })).text).toContain('0 of 22 tools')
  })
})

test('some tools stay listed', async () => {
  const { names } = await searching({ visible: ['*file*'] })
  expect(await names()).toEqual(['search_tools', 'call_tool', 'it__read_file'])
})

test('the list has pages like any other', async () => {
  const search = { toolSearch: { visible: ['it__filler_1*'] }, pageSize: 1 }
  const client = await caller(await routed({ it: many() }, search))
  const names: string[] = []
  for await (const { name } of client.tools()) names.push(name)
  expect(names.slice(0, 3)).toEqual(['search_tools', 'call_tool', 'it__filler_1'])
  expect(names).toHaveLength(13)
})

test('a list that is short enough is not replaced', async () => {
  const { client, names } = await searching({ above: 22 })
  expect(await names()).toHaveLength(22)
  expect(await failureOf(client.call('search_tools', { query: 'x' }))).toMatchObject({
    kind: 'tool_not_found',
  })
})

test('a search returns at most as many tools as the operator allows', async () => {
  const { client } = await searching({ results: 3 })
  const { text } = await client.call('search_tools', { query: 'nothing', limit: 100 })
  expect(text).toContain('3 of 22 tools')
})

test('a search waits for servers that are starting', async () => {
  await using listener = await listen(many(), 'http://127.0.0.1:0/mcp')
  await using router = new Router({ servers: { it: { url: listener.address } }, toolSearch: {} })
  const client = await caller(router)
  expect((await client.call('search_tools', { query: 'ticket' })).text).toContain('it__createIssue')
})

test('the search tool names all servers from the start, and stays the same', async () => {
  await using listener = await listen(many(), 'http://127.0.0.1:0/mcp')
  const servers = { it: { url: listener.address }, later: { server: many() } }
  await using router = new Router({ servers, toolSearch: {}, startWaitMs: 0, onError: () => {} })
  const client = await caller(router)
  const described = async () =>
    (await client.request('tools/list', {})).tools.find(({ name }) => name === 'search_tools')
      ?.description
  await expect.poll(described, pollOptions).toContain('not listed here: it, later.')
  await router.unregister('later')
  expect(await described()).toContain('not listed here: it.')
})

test('a tool for the user interface of its server alone is not found', async () => {
  const server = new Server({ name: 'app', version: '1' })
  const meta = { ui: { visibility: ['app'] } }
  server.tool('refresh_chart', { description: 'Draws the chart again', meta }, () => 'drawn')
  server.tool('show_chart', { description: 'Shows a chart' }, () => 'shown')
  const client = await caller(await routed({ app: server }, { toolSearch: {} }))
  const { text } = await client.call('search_tools', { query: 'chart' })
  expect(text).toContain('app__show_chart')
  expect(text).not.toContain('app__refresh_chart')
})

test('the result of a search is bounded, whatever tools and queries are like', async () => {
  const server = new Server({ name: 'big', version: '1' })
  const properties = Object.fromEntries(
    Array.from(
      { length: 1200 },
      (_, at) => [`a_long_name_of_property_${at}`, { type: 'string' }] as const,
    ),
  )
  for (let at = 0; at < 5; at++) {
    const description = `Draws a chart ${'x'.repeat(30_000)}`
    server.tool(
      `chart_${at}`,
      { description, input: { type: 'object', properties } },
      () => 'drawn',
    )
  }
  const client = await caller(await routed({ big: server }, { toolSearch: {} }))
  const { text } = await client.call('search_tools', { query: 'chart' })
  const { text: one } = await client.call('search_tools', { query: 'chart', limit: 1 })
  expect(one).toContain('property_1199')
  expect(text.length).toBeLessThan(limits.toolSearchBytes.default + one.length + 5 * 400)
  expect(text).toContain('big__chart_4')
  expect(text).toContain('left out, because it is long')
  const long = `chart ${'word '.repeat(100_000)}`
  expect((await client.call('search_tools', { query: long })).text).toContain('5 of 5 tools')
})

test('a call by tool search is observed as a call of the tool', async () => {
  const { client } = await searching({})
  const names: (string | undefined)[] = []
  onTestFinished(events.callFinished.subscribe(({ name }) => void names.push(name)))
  await client.call('call_tool', { name: 'it__read_file' })
  await client.call('search_tools', { query: 'file' })
  expect(names).toEqual(['it__read_file', 'search_tools'])
})

test('a tool whose arguments are mirrored in headers can be called by tool search', async () => {
  const server = new Server({ name: 'regional', version: '1' })
  const region = { type: 'string', 'x-mcp-header': 'Region' } as const
  const input = { type: 'object', properties: { region } } as const
  server.tool('where', { input }, args => `in ${args.region}`)
  const router = await routed({ regional: server }, { toolSearch: {} })
  await using listener = await listen(router, 'http://127.0.0.1:0/mcp')
  await using client = await connect(listener.address, { era: 'stateless', websocket: false })
  const args = { name: 'regional__where', arguments: { region: 'eu' } }
  expect((await client.call('call_tool', args)).text).toBe('in eu')
})

test('unknown settings are refused', () => {
  expect(() => new Router({ toolSearch: { abovee: 1 } as ToolSearchOptions })).toThrow('above')
})
