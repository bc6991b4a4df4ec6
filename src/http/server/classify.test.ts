import { describe, expect, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import type { Batch, Message } from '../../jsonrpc/message.ts'
import type { HttpRequest } from '../exchange.ts'
import { classify } from './classify.ts'

const now = '2026-07-28'
const stateless = new Set([now])

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
  served = stateless,
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
    ['nowhere, as a notification that speaks for itself', 'nowhere', note('a', meta()), version],
    ['nowhere, as a notification by its header', 'nowhere', note('a'), version],
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

  test('to a session whatever it says, where nothing else is served', () => {
    expect(destination(request('tools/list', meta()), { 'mcp-session-id': 's' }, new Set())).toBe(
      'session',
    )
    expect(destination(request('initialize', meta()), {}, new Set())).toBe('initialize')
  })
})
