import { describe, expect, it } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  answeringClient,
  sessionRevisions,
  stateless,
} from '../../../test/support/answering-client.ts'
import { Server } from '../server.ts'
import type { ServerCache } from './cache-hints.ts'

const calls = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['prompts/list', {}],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'r:///1' }],
  ['resources/read', { uri: 'own:///1' }],
  ['resources/read', { uri: 'whole:///1' }],
  ['resources/read', { uri: 'family:///1' }],
] as const

function make(cache?: ServerCache) {
  const server = new Server({ name: 'test', version: '1' }, { cache, pageSize: 1 })
  for (const name of ['a', 'b']) {
    server.tool(name, {}, () => '')
    server.prompt(name, {}, () => '')
  }
  server.resource('r', 'r:///1', {}, () => 'r')
  server.resource('own', 'own:///1', { cache: { ttlMs: 7, cacheScope: 'public' } }, () => 'o')
  server.resource('whole', 'whole:///1', { cache: { ttlMs: 7 } }, () => ({
    contents: [{ uri: 'whole:///1', text: 'w' }],
    ttlMs: 9,
  }))
  server.resourceTemplate('family', 'family:///{id}', { cache: { ttlMs: 8 } }, ({ id }) => id)
  return server
}

async function hints(server: Server) {
  const client = await answeringClient(server, stateless)
  const replies: unknown[] = []
  for (const [method, params] of calls) {
    const { result } = await client.request(method, params)
    replies.push([result?.ttlMs, result?.cacheScope])
  }
  return replies
}

describe('cache hints', () => {
  it('forbid caching by default', async () => {
    proves('U10', 'U10b')
    expect(await hints(make())).toEqual([
      ...Array(6).fill([0, 'private']),
      [7, 'public'],
      [9, 'private'],
      [8, 'private'],
    ])
  })

  it('are those of the server, of a method, of a resource, of a result: the most specific applies', async () => {
    proves('U10', 'U10b')
    const cache = {
      ttlMs: 1,
      cacheScope: 'public',
      discover: { ttlMs: 2 },
      tools: { ttlMs: 3, cacheScope: 'private' },
      prompts: { cacheScope: 'private' },
      resourceTemplates: { ttlMs: 4 },
      contents: { ttlMs: 5 },
    } as const
    expect(await hints(make(cache))).toEqual([
      [2, 'public'],
      [3, 'private'],
      [1, 'private'],
      [1, 'public'],
      [4, 'public'],
      [5, 'public'],
      [7, 'public'],
      [9, 'public'],
      [8, 'public'],
    ])
  })

  it('are the same on every page', async () => {
    proves('U10d')
    const client = await answeringClient(
      make({ tools: { ttlMs: 3, cacheScope: 'public' } }),
      stateless,
    )
    const first = (await client.request('tools/list')).result
    const second = (await client.request('tools/list', { cursor: first?.nextCursor })).result
    for (const page of [first, second]) {
      expect(page).toMatchObject({ ttlMs: 3, cacheScope: 'public' })
    }
  })

  it.each(sessionRevisions)('are not sent in %s, which does not have them', async revision => {
    const client = await answeringClient(make({ ttlMs: 5 }), revision)
    for (const [method, params] of calls.slice(1)) {
      const { result } = await client.request(method, params)
      expect(result).not.toHaveProperty('ttlMs')
      expect(result).not.toHaveProperty('cacheScope')
    }
  })

  it.each([
    ['a negative time', { ttlMs: -1 }],
    ['a fraction', { ttlMs: 0.5 }],
    ['no number', { ttlMs: Number.NaN }],
    ['another scope', { cacheScope: 'shared' as 'public' }],
    ['a bad time of one list', { tools: { ttlMs: -1 } }],
  ])('with %s are refused', (_, cache) => {
    proves('U10b')
    expect(() => make(cache)).toThrow(TypeError)
    const server = new Server({ name: 'test', version: '1' })
    if ('tools' in cache) return
    expect(() => server.resource('r', 'r:///1', { cache }, () => '')).toThrow(/resource "r"/)
    expect(() => server.resourceTemplate('t', 't:///{x}', { cache }, () => '')).toThrow(TypeError)
  })
})

describe('x-mcp-header', () => {
  const tool = (properties: object) => {
    const server = new Server({ name: 'test', version: '1' })
    const input = { type: 'object', properties }
    return () => server.tool('t', { input }, () => '')
  }
  const region = { type: 'string', 'x-mcp-header': 'Region' }

  it('is accepted where it follows the rules', () => {
    proves('S11', 'S11b', 'S11c', 'S11d')
    const inner = { type: 'object', properties: { id: { type: 'integer', 'x-mcp-header': 'Id' } } }
    expect(tool({ region, inner })).not.toThrow()
  })

  it.each([
    ['empty', { a: { type: 'string', 'x-mcp-header': '' } }],
    ['no token', { a: { type: 'string', 'x-mcp-header': 'My Region' } }],
    ['there twice', { a: region, b: { type: 'string', 'x-mcp-header': 'region' } }],
    ['at a number', { a: { type: 'number', 'x-mcp-header': 'A' } }],
    ['at entries of a list', { a: { type: 'array', items: region } }],
  ])('is refused at registration where it is %s', (_, properties) => {
    proves('S11', 'S11b', 'S11c', 'S11d')
    expect(tool(properties)).toThrow(/tool "t" input: x-mcp-header/)
  })
})
