import { describe, expect, test } from 'vitest'
import type { Revision, Side } from './driver.ts'
import { type CheckOptions, Conversation, checkSent } from './schema-check.ts'

interface Row {
  readonly name: string
  readonly revision: Revision
  readonly from: Side
  readonly message: unknown
  readonly options?: CheckOptions
  /** The beginning of the problem that must be found; without it none may be found. */
  readonly problem?: string
}

const request = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 1, method, params })
const notification = (method: string, params?: object) => ({ jsonrpc: '2.0', method, params })
const result = (value: object) => ({ jsonrpc: '2.0', id: 1, result: value })
const error = (code: number, data?: unknown, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: 'no', data },
})

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const complete = { resultType: 'complete' }
const cached = { ...complete, ttlMs: 0, cacheScope: 'private' }
const called = { answers: 'tools/call' }
const listed = { answers: 'tools/list' }
const tool = { name: 'a', inputSchema: { type: 'object' } }
const text = { type: 'text', text: 'a' }
const sound = { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' }
const link = { type: 'resource_link', name: 'a', uri: 'a:b' }
const implementation = { name: 'a', version: '1' }

const right: readonly Row[] = [
  {
    name: 'a handshake',
    revision: '2024-11-05',
    from: 'client',
    message: request('initialize', {
      protocolVersion: '2024-11-05',
      capabilities: {},
      clientInfo: implementation,
    }),
  },
  {
    name: 'a ping without params',
    revision: '2025-03-26',
    from: 'server',
    message: request('ping'),
  },
  {
    name: 'an id that is a string',
    revision: '2025-06-18',
    from: 'client',
    message: { jsonrpc: '2.0', id: '', method: 'tools/list' },
  },
  {
    name: 'a batch',
    revision: '2025-03-26',
    from: 'client',
    message: [request('ping'), notification('notifications/initialized')],
  },
  {
    name: 'a sound',
    revision: '2025-03-26',
    from: 'server',
    message: result({ content: [sound] }),
    options: called,
  },
  {
    name: 'a new task',
    revision: '2025-11-25',
    from: 'server',
    message: result({
      task: {
        taskId: 'a',
        status: 'working',
        createdAt: '2026-01-01T00:00:00Z',
        lastUpdatedAt: '2026-01-01T00:00:00Z',
        ttl: null,
      },
    }),
    options: called,
  },
  {
    name: 'a list that may be kept',
    revision: '2026-07-28',
    from: 'server',
    message: result({ ...cached, tools: [tool] }),
    options: { ...listed, strict: true },
  },
  {
    name: 'structure that is not an object',
    revision: '2026-07-28',
    from: 'server',
    message: result({ ...complete, content: [], structuredContent: 7 }),
    options: called,
  },
  {
    name: 'an answer that asks',
    revision: '2026-07-28',
    from: 'server',
    message: result({
      resultType: 'input_required',
      inputRequests: { a: { method: 'roots/list' } },
      requestState: 'sealed',
    }),
    options: { ...called, strict: true },
  },
  {
    name: 'an unreadable request answered as JSON-RPC wants it',
    revision: '2025-06-18',
    from: 'server',
    message: error(-32700, undefined, null),
  },
  {
    name: 'an unreadable request answered without an id',
    revision: '2026-07-28',
    from: 'server',
    message: { jsonrpc: '2.0', error: { code: -32700, message: 'no' } },
  },
]

const wrong: readonly (Row & { readonly problem: string })[] = [
  {
    name: 'something else than an object',
    revision: '2025-11-25',
    from: 'client',
    message: 42,
    problem: 'the message is not an object',
  },
  {
    name: 'another version of JSON-RPC',
    revision: '2025-11-25',
    from: 'client',
    message: { ...request('ping'), jsonrpc: '1.0' },
    problem: 'message.jsonrpc is not 2.0',
  },
  {
    name: 'a result that is an error too',
    revision: '2025-11-25',
    from: 'server',
    message: { ...result({}), error: { code: 1, message: 'no' } },
    problem: 'the message is not of exactly one kind',
  },
  {
    name: 'an id that is null',
    revision: '2025-03-26',
    from: 'client',
    message: { ...request('ping'), id: null },
    problem: 'message.id is no string or integer',
  },
  {
    name: 'a method that came later',
    revision: '2025-03-26',
    from: 'server',
    message: request('elicitation/create', { message: 'a' }),
    problem: 'elicitation/create is not in 2025-03-26',
  },
  {
    name: 'a method that is gone',
    revision: '2026-07-28',
    from: 'client',
    message: request('ping', { _meta: envelope }),
    problem: 'ping is not in 2026-07-28',
  },
  {
    name: 'a method of the other side',
    revision: '2025-11-25',
    from: 'server',
    message: request('tools/list'),
    problem: 'tools/list is not sent by a server',
  },
  {
    name: 'a request that does not say who asks',
    revision: '2026-07-28',
    from: 'client',
    message: request('tools/list', {}),
    problem: 'message.params._meta is missing',
  },
  {
    name: 'a request that does not say what its client can do',
    revision: '2026-07-28',
    from: 'client',
    message: request('tools/list', {
      _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
    }),
    problem: 'message.params._meta.io.modelcontextprotocol/clientCapabilities is missing',
  },
  {
    name: 'a call without a name',
    revision: '2024-11-05',
    from: 'client',
    message: request('tools/call', { arguments: {} }),
    problem: 'message.params.name is missing',
  },
  {
    name: 'needed params that are left out',
    revision: '2024-11-05',
    from: 'client',
    message: request('tools/call'),
    problem: 'message.params is missing',
  },
  {
    name: 'a batch where there are none',
    revision: '2025-06-18',
    from: 'client',
    message: [request('ping')],
    problem: '2025-06-18 has no batches',
  },
  {
    name: 'a handshake in a batch',
    revision: '2025-03-26',
    from: 'client',
    message: [
      request('initialize', {
        protocolVersion: '2025-03-26',
        capabilities: {},
        clientInfo: implementation,
      }),
    ],
    problem: '[0] is in a batch',
  },
  {
    name: 'a sound before there are any',
    revision: '2024-11-05',
    from: 'server',
    message: result({ content: [text, sound] }),
    options: called,
    problem: 'result.content[1].type is not in 2024-11-05',
  },
  {
    name: 'a link before there are any',
    revision: '2025-03-26',
    from: 'server',
    message: result({ content: [link] }),
    options: called,
    problem: 'result.content[0].type is not in 2025-03-26',
  },
  {
    name: 'structure before there is any, when looked at strictly',
    revision: '2025-03-26',
    from: 'server',
    message: result({ content: [], structuredContent: {} }),
    options: { ...called, strict: true },
    problem: 'result.structuredContent is not known',
  },
  {
    name: 'structure that is not an object',
    revision: '2025-11-25',
    from: 'server',
    message: result({ content: [], structuredContent: 7 }),
    options: called,
    problem: 'result.structuredContent is not an object',
  },
  {
    name: 'a picture that is not Base64',
    revision: '2025-06-18',
    from: 'server',
    message: result({ content: [{ type: 'image', data: '***', mimeType: 'image/png' }] }),
    options: called,
    problem: 'result.content[0].data is no Base64',
  },
  {
    name: 'a result without a type',
    revision: '2026-07-28',
    from: 'server',
    message: result({ content: [] }),
    options: called,
    problem: 'result.resultType is missing',
  },
  {
    name: 'a list that does not say how long it lasts',
    revision: '2026-07-28',
    from: 'server',
    message: result({ ...complete, tools: [] }),
    options: listed,
    problem: 'result.ttlMs is missing',
  },
  {
    name: 'a list that asks',
    revision: '2026-07-28',
    from: 'server',
    message: result({ ...cached, resultType: 'input_required', tools: [] }),
    options: listed,
    problem: 'result.resultType is no complete',
  },
  {
    name: 'an answer that asks for nothing',
    revision: '2026-07-28',
    from: 'server',
    message: result({ resultType: 'input_required' }),
    options: called,
    problem: 'result asks for nothing',
  },
  {
    name: 'a request of the server where it has none',
    revision: '2026-07-28',
    from: 'server',
    message: request('roots/list'),
    problem: 'roots/list is not in 2026-07-28',
  },
  {
    name: 'a reply of the client where it has none',
    revision: '2026-07-28',
    from: 'client',
    message: result({ ...complete, roots: [] }),
    problem: 'a client sends no replies',
  },
  {
    name: 'null for an id that is to be left out',
    revision: '2025-11-25',
    from: 'server',
    message: error(-32700, undefined, null),
    problem: 'message.id is null',
  },
  {
    name: 'a number that was given up',
    revision: '2026-07-28',
    from: 'server',
    message: error(-32002),
    problem: 'error.code -32002 is not to be sent',
  },
  {
    name: 'a number that is kept for later',
    revision: '2026-07-28',
    from: 'server',
    message: error(-32050),
    problem: 'error.code -32050 is not to be sent',
  },
  {
    name: 'a refused revision without those that are not',
    revision: '2026-07-28',
    from: 'server',
    message: error(-32022, { requested: '1999-01-01' }),
    problem: 'error.data.supported is missing',
  },
  {
    name: 'what a package’s own schema forbids',
    revision: '2025-11-25',
    from: 'client',
    message: { ...request('ping'), extra: 1 },
    problem: 'official',
  },
]

describe('a message is checked against the schema of its revision', () => {
  test.each(right)('$name is valid in $revision', ({ revision, from, message, options }) => {
    expect(checkSent(revision, from, message, options)).toEqual([])
  })

  test.each(wrong)('$name is invalid in $revision', row => {
    const found = checkSent(row.revision, row.from, row.message, row.options)
    expect(found).toContainEqual(expect.stringMatching(beginningWith(row.problem)))
  })
})

describe('a conversation', () => {
  test('finds the request that a result answers', () => {
    const conversation = new Conversation('2025-06-18')
    expect(conversation.sent('client', request('tools/list'))).toEqual([])
    expect(conversation.sent('server', result({ tools: [{}] }))).toEqual([
      'server: answer to tools/list: result.tools[0].name is missing',
      'server: answer to tools/list: result.tools[0].inputSchema is missing',
    ])
  })

  test('distinguishes the ids of both sides, and of both types', () => {
    const conversation = new Conversation('2025-06-18')
    conversation.sent('client', request('tools/list'))
    conversation.sent('client', { ...request('ping'), id: '1' })
    conversation.sent('server', request('roots/list'))
    expect(conversation.sent('server', { ...result({}), id: '1' })).toEqual([])
    expect(conversation.sent('client', result({ roots: [] }))).toEqual([])
    expect(conversation.sent('server', result({ tools: [] }))).toEqual([])
  })
})

function beginningWith(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)
}
