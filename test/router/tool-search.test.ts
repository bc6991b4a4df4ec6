import { describe, expect, test } from 'vitest'
import { listen } from '../../src/listen.ts'
import { Router, type ToolSearchOptions } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
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
    expect(tools[0]?.description).toContain('22 tools are not listed')
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

test('unknown settings are refused', () => {
  expect(() => new Router({ toolSearch: { abovee: 1 } as ToolSearchOptions })).toThrow('above')
})
