import { describe, expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  DrivenChannel,
  json,
  type ReceivedRequest,
  refuse,
  reply,
  stateless,
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

function mirrored({ headers }: ReceivedRequest): Record<string, string> {
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
    const driven = new DrivenChannel(received => reply(received))
    driven.request(1, method, { ...params, ...stateless })
    await driven.ended()
    expect(driven.received.map(mirrored)).toEqual([
      {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(name !== undefined && { 'mcp-name': name }),
      },
    ])
  })

  test('mirror the annotated arguments of a listed tool', async () => {
    proves('N10', 'N11', 'N11b', 'N12')
    const driven = new DrivenChannel(received => reply(received, { tools: [region] }))
    driven.request(1, 'tools/list', stateless)
    await driven.ended()
    const args = { region: 'eu west', depth: 3, dry: false, inner: { key: ' ä' } }
    driven.request(2, 'tools/call', { name: 'query', arguments: args, ...stateless })
    await driven.ended(2)
    driven.request(3, 'tools/call', { name: 'query', arguments: { region: null }, ...stateless })
    await driven.ended(3)
    const params = driven.received.map(received =>
      Object.entries(mirrored(received)).filter(([name]) => name.startsWith('mcp-param-')),
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
    const driven = new DrivenChannel(received => reply(received, { tools: [bad, region] }))
    driven.request(1, 'tools/list')
    await driven.ended()
    expect(driven.arrivals).toMatchObject([{ arrival: { result: { tools: [bad, region] } } }])
    driven.request(2, 'tools/call', { name: 'query', arguments: { region: 'x' } })
    await driven.ended(2)
    expect(driven.received.map(mirrored)).toEqual([{}, {}])
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
  const driven = new DrivenChannel(received => reply(received, { tools, nextCursor: 'c' }))
  driven.request(1, 'tools/list', stateless)
  await driven.ended()
  expect(driven.arrivals).toMatchObject([
    { arrival: { result: { tools: [{ name: 'query' }, { name: 'plain' }], nextCursor: 'c' } } },
  ])
  expect(driven.errors.map(String)).toEqual([
    expect.stringContaining('"empty"'),
    expect.stringContaining('"twice"'),
    expect.stringContaining('"number"'),
  ])
})

describe('a call whose headers do not match', () => {
  const call = { name: 'query', arguments: { region: 'eu' }, ...stateless }

  test('is repeated once the list has the right annotations', async () => {
    proves('N12b')
    const driven = new DrivenChannel(received => {
      if (received.body.method === 'tools/list') {
        const isLast = received.body.params.cursor === 'next'
        return reply(received, isLast ? { tools: [region] } : { tools: [], nextCursor: 'next' })
      }
      return received.headers.get('mcp-param-region') === 'eu'
        ? reply(received, { content: [] })
        : refuse(received, 400, -32020)
    })
    driven.request(1, 'tools/call', call)
    await driven.ended()
    expect(driven.received.map(({ body }) => body.method)).toEqual([
      'tools/call',
      'tools/list',
      'tools/list',
      'tools/call',
    ])
    expect(driven.received[1]?.body.params._meta).toEqual(stateless._meta)
    expect(driven.arrivals).toMatchObject([{ arrival: { type: 'result', id: 1 } }])
    expect(driven.failures).toEqual([])
  })

  test.each([
    ['the list says nothing new', { tools: [tool('query', {})] }],
    ['the tool is not listed', { tools: [] }],
    ['the list is none', 7],
  ])('is rejected when %s', async (_, listed) => {
    const driven = new DrivenChannel(received =>
      received.body.method === 'tools/list'
        ? reply(received, listed)
        : refuse(received, 400, -32020),
    )
    driven.request(1, 'tools/call', call)
    await driven.ended()
    expect(driven.received).toHaveLength(2)
    expect(driven.arrivals).toMatchObject([{ arrival: { type: 'error', error: { code: -32020 } } }])
  })

  test('is rejected when the list cannot be read, or the repeated call fails as well', async () => {
    const broken = new DrivenChannel(received =>
      received.body.method === 'tools/list' ? json({}, 500) : refuse(received, 400, -32020),
    )
    broken.request(1, 'tools/call', call)
    await broken.ended()
    expect(broken.arrivals).toMatchObject([{ arrival: { error: { code: -32020 } } }])
    const stubborn = new DrivenChannel(received =>
      received.body.method === 'tools/list'
        ? reply(received, { tools: [region] })
        : refuse(received, 400, -32020),
    )
    stubborn.request(1, 'tools/call', call)
    await stubborn.ended()
    expect(stubborn.received).toHaveLength(3)
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
