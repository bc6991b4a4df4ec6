import { describe, expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import type { Batch, Message, RpcRequest } from '../../jsonrpc/message.ts'
import { encodeHeader } from '../../mcp/param-headers/encoding.ts'
import { type Revision, revisions, revisionsOf } from '../../mcp/revisions/revisions.ts'
import type { HttpRequest } from '../exchange.ts'
import { classify, mirrorProblem } from './classify.ts'

const now = '2026-07-28'
const sessions = revisionsOf('session')

function meta(version = now, more: object = { 'io.modelcontextprotocol/clientCapabilities': {} }) {
  return { _meta: { 'io.modelcontextprotocol/protocolVersion': version, ...more } }
}

const request = (method: string, params?: object): Message => ({
  type: 'request',
  id: 7,
  method,
  params: params as never,
})
const note = (method: string, params?: object): Message => ({
  type: 'notification',
  method,
  params: params as never,
})

function destination(
  arrival: Message | Batch,
  headers: Record<string, string> = {},
  served: readonly Revision[] = revisions,
) {
  const header = (name: string): string | undefined => headers[name]
  const found = classify(arrival, { header } as Partial<HttpRequest> as HttpRequest, served)
  return found.to === 'refused' ? `${found.status} ${found.error.code}` : found.to
}

const version = { 'mcp-protocol-version': now }
const list = { ...version, 'mcp-method': 'tools/list' }

describe('a POST belongs', () => {
  const rows: readonly (readonly [string, string, Message | Batch, Record<string, string>])[] = [
    ['to itself when its body says so', 'stateless', request('tools/list', meta()), list],
    [
      'to itself even if it names a session',
      'stateless',
      request('tools/list', meta()),
      { ...list, 'mcp-session-id': 's' },
    ],
    [
      'nowhere good without the header of the revision',
      '400 -32020',
      request('tools/list', meta()),
      { 'mcp-method': 'tools/list' },
    ],
    [
      'nowhere good with another header than its body',
      '400 -32020',
      request('tools/list', meta()),
      { ...list, 'mcp-protocol-version': '2025-11-25' },
    ],
    [
      'nowhere good without the capabilities',
      '400 -32602',
      request('tools/list', meta(now, {})),
      list,
    ],
    [
      'to the endpoint when its revision is unknown, which says so',
      'stateless',
      request('tools/list', meta('v999')),
      { 'mcp-protocol-version': 'v999' },
    ],
    [
      'nowhere good when its header knows a revision its body does not',
      '400 -32020',
      request('tools/list', meta('v999')),
      version,
    ],
    [
      'nowhere good without the header of the method',
      '400 -32020',
      request('tools/list', meta()),
      version,
    ],
    [
      'nowhere good when only its header says that it speaks for itself',
      '400 -32602',
      request('tools/list'),
      version,
    ],
    ['to a new session', 'initialize', request('initialize', {}), {}],
    [
      'to itself, not to a session, as an initialize that speaks for itself',
      'stateless',
      request('initialize', meta()),
      { ...version, 'mcp-method': 'initialize' },
    ],
    ['to its session', 'session', request('tools/list'), { 'mcp-session-id': 's' }],
    ['to no session', 'sessionless', request('tools/list'), {}],
    [
      'to no session, in the revision it names',
      'sessionless',
      request('tools/list'),
      { 'mcp-protocol-version': '2025-06-18' },
    ],
    [
      'nowhere good in a revision that does not exist',
      '400 -32000',
      request('tools/list'),
      { 'mcp-protocol-version': 'v1' },
    ],
    [
      'to its session, as a reply',
      'session',
      { type: 'result', id: 1, result: {} },
      { 'mcp-session-id': 's' },
    ],
    [
      'nowhere good, as a reply without a session',
      '400 -32600',
      { type: 'result', id: 1, result: {} },
      {},
    ],
    ['to its session, as a notification', 'session', note('a'), { 'mcp-session-id': 's' }],
    ['nowhere, as a notification that speaks for itself', 'ignored', note('a', meta()), version],
    ['nowhere, as a notification by its header', 'ignored', note('a'), version],
    [
      'to its session, as a batch',
      'session',
      { type: 'batch', entries: [request('a')] },
      { 'mcp-session-id': 's' },
    ],
    [
      'nowhere good, as a batch that speaks for itself',
      '400 -32600',
      { type: 'batch', entries: [request('a', meta())] },
      { 'mcp-session-id': 's' },
    ],
    [
      'nowhere good, as a batch without a session',
      '400 -32600',
      { type: 'batch', entries: [request('a')] },
      {},
    ],
  ]

  test.each(rows)('%s', (_, expected, arrival, headers) => {
    proves('N3d', 'N8c', 'N19')
    expect(destination(arrival, headers)).toBe(expected)
  })

  test('to a session in any case, where no stateless revision is served', () => {
    expect(destination(request('tools/list', meta()), { 'mcp-session-id': 's' }, sessions)).toBe(
      'session',
    )
    expect(destination(request('initialize', meta()), {}, sessions)).toBe('initialize')
  })
})

function problem(method: string, params: object, headers: Record<string, string>) {
  const message: RpcRequest = { type: 'request', id: 1, method, params: params as never }
  const header = (name: string): string | undefined => headers[name]
  return mirrorProblem(message, { header } as Partial<HttpRequest> as HttpRequest)
}

describe('the headers that mirror a request', () => {
  const call = { name: 'añb', arguments: {} }
  const encoded = encodeHeader('añb')
  const rows: readonly (readonly [
    string,
    string,
    object,
    Record<string, string>,
    string | undefined,
  ])[] = [
    ['agree', 'tools/list', {}, { 'mcp-method': 'tools/list' }, undefined],
    ['lack the method', 'tools/list', {}, {}, 'the header Mcp-Method is missing'],
    [
      'name another method',
      'tools/list',
      {},
      { 'mcp-method': 'Tools/List' },
      'the header Mcp-Method does not match the method',
    ],
    ['have space around them', 'tools/list', {}, { 'mcp-method': ' tools/list ' }, undefined],
    [
      'lack the name',
      'tools/call',
      call,
      { 'mcp-method': 'tools/call' },
      'the header Mcp-Name is missing',
    ],
    [
      'name another tool',
      'tools/call',
      call,
      { 'mcp-method': 'tools/call', 'mcp-name': 'b' },
      'the header Mcp-Name does not match params.name',
    ],
    [
      'carry the name in Base64',
      'tools/call',
      call,
      { 'mcp-method': 'tools/call', 'mcp-name': encoded },
      undefined,
    ],
    [
      'carry broken Base64',
      'tools/call',
      call,
      { 'mcp-method': 'tools/call', 'mcp-name': '=?base64?YQ?=' },
      'the header Mcp-Name is not encoded correctly',
    ],
    [
      'carry the address of a resource',
      'resources/read',
      { uri: 'a:b' },
      { 'mcp-method': 'resources/read', 'mcp-name': 'a:b' },
      undefined,
    ],
    [
      'carry a task',
      'tasks/get',
      { taskId: 't' },
      { 'mcp-method': 'tasks/get', 'mcp-name': 'u' },
      'the header Mcp-Name does not match params.taskId',
    ],
    [
      'cannot repeat what is no text',
      'tools/call',
      { name: 1 },
      { 'mcp-method': 'tools/call' },
      undefined,
    ],
  ]

  test.each(rows)('%s', (_, method, params, headers, words) => {
    expect(problem(method, params, headers)).toBe(words)
  })
})

test('a stateless request is handed on with its caller', () => {
  const principal = { id: 'ada' }
  const header = (name: string): string | undefined => (list as Record<string, string>)[name]
  const incoming = { header, principal } as Partial<HttpRequest> as HttpRequest
  const found = classify(request('tools/list', meta()), incoming, revisions)
  expect(found).toMatchObject({ to: 'stateless', caller: { principal, revision: { name: now } } })
})
