import { describe, expect, test } from 'vitest'
import type { RpcRequest } from '../../jsonrpc/message.ts'
import { encodeHeader } from '../../mcp/param-headers/encoding.ts'
import type { HttpRequest } from '../exchange.ts'
import { mirrorProblem } from './mirror.ts'

function problem(method: string, params: object, headers: Record<string, string>) {
  const message: RpcRequest = { type: 'request', id: 1, method, params: params as never }
  const header = (name: string): string | undefined => headers[name]
  return mirrorProblem(message, { header } as Partial<HttpRequest> as HttpRequest)
}

describe('the headers that repeat a request', () => {
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
      'the header Mcp-Method is not the method',
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
      'the header Mcp-Name is not params.name',
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
      'the header Mcp-Name is not well encoded',
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
      'the header Mcp-Name is not params.taskId',
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
