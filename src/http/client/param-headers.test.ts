import { describe, expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  type Asked,
  json,
  refuse,
  reply,
  stateless,
  Talk,
} from '../../../test/support/fake-fetch.ts'
import { AnnotatedTools } from './param-headers.ts'

const header = (name: string, type = 'string') => ({ type, 'x-mcp-header': name })
const tool = (name: string, properties: object) => ({
  name,
  inputSchema: { type: 'object', properties },
})
const region = tool('query', {
  region: header('Region'),
  depth: header('Depth', 'integer'),
  dry: header('Dry', 'boolean'),
  inner: { type: 'object', properties: { key: header('Key') } },
})

function mirrored({ headers }: Asked): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('mcp-')))
}

describe('the headers of a stateless request', () => {
  test.each([
    ['tools/list', {}, undefined],
    ['tools/call', { name: 'a b' }, 'a b'],
    ['prompts/get', { name: 'größe' }, '=?base64?Z3LDtsOfZQ==?='],
    ['resources/read', { uri: 'file:///x' }, 'file:///x'],
    ['tasks/get', { taskId: '7' }, '7'],
    ['tasks/update', { taskId: 'ä' }, '=?base64?w6Q=?='],
    ['tasks/cancel', { taskId: '7' }, '7'],
  ])('of %s mirror its subject', async (method, params, name) => {
    proves('N3c', 'N8', 'N9', 'N9b', 'N9c', 'N9d')
    const talk = new Talk(asked => reply(asked))
    talk.request(1, method, { ...params, ...stateless })
    await talk.ended()
    expect(talk.asked.map(mirrored)).toEqual([
      {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(name !== undefined && { 'mcp-name': name }),
      },
    ])
  })

  test('mirror the annotated arguments of a listed tool', async () => {
    proves('N10', 'N11', 'N11b', 'N12')
    const talk = new Talk(asked => reply(asked, { tools: [region] }))
    talk.request(1, 'tools/list', stateless)
    await talk.ended()
    const args = { region: 'eu west', depth: 3, dry: false, inner: { key: ' ä' } }
    talk.request(2, 'tools/call', { name: 'query', arguments: args, ...stateless })
    await talk.ended(2)
    talk.request(3, 'tools/call', { name: 'query', arguments: { region: null }, ...stateless })
    await talk.ended(3)
    const params = talk.asked.map(asked =>
      Object.entries(mirrored(asked)).filter(([name]) => name.startsWith('mcp-param-')),
    )
    expect(params[1]).toEqual([
      ['mcp-param-depth', '3'],
      ['mcp-param-dry', 'false'],
      ['mcp-param-key', '=?base64?IMOk?='],
      ['mcp-param-region', 'eu west'],
    ])
    expect(params[2]).toEqual([])
  })

  test('mean nothing in a session, whose tools are all delivered', async () => {
    const bad = tool('bad', { a: header('') })
    const talk = new Talk(asked => reply(asked, { tools: [bad, region] }))
    talk.request(1, 'tools/list')
    await talk.ended()
    expect(talk.arrivals).toMatchObject([{ arrival: { result: { tools: [bad, region] } } }])
    talk.request(2, 'tools/call', { name: 'query', arguments: { region: 'x' } })
    await talk.ended(2)
    expect(talk.asked.map(mirrored)).toEqual([{}, {}])
  })
})

test('tools that must not be used are left out of the list, and reported', async () => {
  proves('N10b')
  const tools = [
    tool('empty', { a: header('') }),
    region,
    tool('twice', { a: header('X'), b: header('x') }),
    tool('number', { a: header('N', 'number') }),
    tool('plain', { a: { type: 'string' } }),
  ]
  const talk = new Talk(asked => reply(asked, { tools, nextCursor: 'c' }))
  talk.request(1, 'tools/list', stateless)
  await talk.ended()
  expect(talk.arrivals).toMatchObject([
    { arrival: { result: { tools: [{ name: 'query' }, { name: 'plain' }], nextCursor: 'c' } } },
  ])
  expect(talk.errors.map(String)).toEqual([
    expect.stringContaining('"empty"'),
    expect.stringContaining('"twice"'),
    expect.stringContaining('"number"'),
  ])
})

describe('a call whose headers do not match', () => {
  const call = { name: 'query', arguments: { region: 'eu' }, ...stateless }

  test('is repeated once the list has the right annotations', async () => {
    proves('N12b')
    const talk = new Talk(asked => {
      if (asked.body.method === 'tools/list') {
        const isLast = asked.body.params.cursor === 'next'
        return reply(asked, isLast ? { tools: [region] } : { tools: [], nextCursor: 'next' })
      }
      return asked.headers.get('mcp-param-region') === 'eu'
        ? reply(asked, { content: [] })
        : refuse(asked, 400, -32020)
    })
    talk.request(1, 'tools/call', call)
    await talk.ended()
    expect(talk.asked.map(({ body }) => body.method)).toEqual([
      'tools/call',
      'tools/list',
      'tools/list',
      'tools/call',
    ])
    expect(talk.asked[1]?.body.params._meta).toEqual(stateless._meta)
    expect(talk.arrivals).toMatchObject([{ arrival: { type: 'result', id: 1 } }])
    expect(talk.failures).toEqual([])
  })

  test.each([
    ['the list says nothing new', { tools: [tool('query', {})] }],
    ['the tool is not listed', { tools: [] }],
    ['the list is none', 7],
  ])('is rejected when %s', async (_, listed) => {
    const talk = new Talk(asked =>
      asked.body.method === 'tools/list' ? reply(asked, listed) : refuse(asked, 400, -32020),
    )
    talk.request(1, 'tools/call', call)
    await talk.ended()
    expect(talk.asked).toHaveLength(2)
    expect(talk.arrivals).toMatchObject([{ arrival: { type: 'error', error: { code: -32020 } } }])
  })

  test('is rejected when the list cannot be read, or the repeated call fails as well', async () => {
    const broken = new Talk(asked =>
      asked.body.method === 'tools/list' ? json({}, 500) : refuse(asked, 400, -32020),
    )
    broken.request(1, 'tools/call', call)
    await broken.ended()
    expect(broken.arrivals).toMatchObject([{ arrival: { error: { code: -32020 } } }])
    const stubborn = new Talk(asked =>
      asked.body.method === 'tools/list'
        ? reply(asked, { tools: [region] })
        : refuse(asked, 400, -32020),
    )
    stubborn.request(1, 'tools/call', call)
    await stubborn.ended()
    expect(stubborn.asked).toHaveLength(3)
    expect(stubborn.arrivals).toMatchObject([{ arrival: { error: { code: -32020 } } }])
  })
})

test('no more tools are remembered than the limit, and `__proto__` is an ordinary name', () => {
  const tools = new AnnotatedTools(2)
  const list = ['a', 'constructor', '__proto__'].map(name => tool(name, { x: header('X') }))
  tools.learn({ tools: [...list, null, { name: 3 }] }, () => {})
  const of = (name: string) => tools.headersOf({ name, arguments: { x: 'y' } })
  expect(of('a')).toEqual({})
  expect(of('__proto__')).toEqual({ 'Mcp-Param-X': 'y' })
  expect(of('toString')).toEqual({})
  expect(tools.headersOf(undefined)).toEqual({})
  tools.learn({ tools: [tool('__proto__', {})] }, () => {})
  expect(of('__proto__')).toEqual({})
})
