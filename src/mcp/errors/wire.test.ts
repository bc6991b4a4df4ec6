import { describe, expect, test } from 'vitest'
import { internalError, invalidParams, methodNotFound, RpcError } from '../../jsonrpc/error.ts'
import { profile } from '../profile.ts'
import { errors } from './constructors.ts'
import { type ErrorKind, errorTable } from './table.ts'
import { type ErrorContext, fromWire, kindOf, toWire } from './wire.ts'

const session: ErrorContext = { profile: 'mcp', revision: { era: 'session' } }
const stateless: ErrorContext = { profile: 'mcp', revision: { era: 'stateless' } }
const erlmcp: ErrorContext = { profile: 'erlmcp' }
const jsonrpc: ErrorContext = { profile: 'jsonrpc' }
const contexts = { session, stateless, erlmcp, jsonrpc }

/** An error of each kind, with text for every member of its data. */
const samples = Array.from(errorTable.values(), ({ code, message, kind, data }) => {
  const members = Object.fromEntries(data.map(name => [name, 'x']))
  return new RpcError(code, message, { kind, data: data.length > 0 ? members : undefined })
})

function sample(kind: ErrorKind): RpcError {
  const found = samples.find(error => error.kind === kind)
  if (found === undefined) throw new Error(kind)
  return found
}

describe('the code on the wire', () => {
  test.each<{ kind: ErrorKind; session: number; stateless: number; erlmcp: number }>([
    { kind: 'parse_error', session: -32700, stateless: -32700, erlmcp: -32700 },
    { kind: 'method_not_found', session: -32601, stateless: -32601, erlmcp: -32601 },
    { kind: 'resource_not_found', session: -32002, stateless: -32602, erlmcp: -32001 },
    { kind: 'tool_not_found', session: -32602, stateless: -32602, erlmcp: -32002 },
    { kind: 'prompt_not_found', session: -32602, stateless: -32602, erlmcp: -32003 },
    { kind: 'invalid_tool_arguments', session: -32602, stateless: -32602, erlmcp: -32034 },
    { kind: 'prompt_argument_missing', session: -32602, stateless: -32602, erlmcp: -32043 },
    { kind: 'invalid_cursor', session: -32602, stateless: -32602, erlmcp: -32071 },
    { kind: 'task_not_found', session: -32602, stateless: -32602, erlmcp: -32081 },
    { kind: 'task_already_completed', session: -32602, stateless: -32602, erlmcp: -32090 },
    { kind: 'capability_not_supported', session: -32601, stateless: -32601, erlmcp: -32004 },
    { kind: 'unsupported_protocol_version', session: -32602, stateless: -32022, erlmcp: -32061 },
    { kind: 'batch_request_too_large', session: -32600, stateless: -32600, erlmcp: -32069 },
    { kind: 'not_initialized', session: -32005, stateless: -32005, erlmcp: -32005 },
    { kind: 'message_too_large', session: -32012, stateless: -32012, erlmcp: -32012 },
    { kind: 'url_elicitation_required', session: -32042, stateless: -32602, erlmcp: -32042 },
    { kind: 'media_type_not_acceptable', session: -32020, stateless: -32602, erlmcp: -32020 },
    { kind: 'tool_execution_failed', session: -32031, stateless: -32603, erlmcp: -32031 },
    { kind: 'token_expired', session: -32054, stateless: -32602, erlmcp: -32054 },
    { kind: 'progress_total_invalid', session: -32099, stateless: -32602, erlmcp: -32099 },
    { kind: 'prompt_rate_limited', session: -32603, stateless: -32603, erlmcp: -32104 },
    { kind: 'invalid_completion_reference', session: -32602, stateless: -32602, erlmcp: -32111 },
    { kind: 'completion_failed', session: -32603, stateless: -32603, erlmcp: -32113 },
    { kind: 'invalid_elicitation_mode', session: -32602, stateless: 1093, erlmcp: 1093 },
    { kind: 'elicitation_cancelled', session: 1092, stateless: 1092, erlmcp: 1092 },
  ])('$kind is $session with sessions, $stateless without, $erlmcp in erlmcp', row => {
    const error = sample(row.kind)
    expect(toWire(error, session).code).toBe(row.session)
    expect(toWire(error, stateless).code).toBe(row.stateless)
    expect(toWire(error, erlmcp).code).toBe(row.erlmcp)
    expect(toWire(error, jsonrpc).code).toBe(row.erlmcp)
  })

  test('is never one that the stateless revisions reserve or withdrew', () => {
    for (const error of samples) {
      const { code } = toWire(error, stateless)
      if (error.kind === 'unsupported_protocol_version') continue
      expect(code === -32002 || (code >= -32099 && code <= -32020), error.kind).toBe(false)
    }
  })

  test('is in MCP never one that JSON-RPC reserves', () => {
    const standard = [-32700, -32600, -32601, -32602, -32603]
    for (const error of samples) {
      for (const context of [session, stateless]) {
        const { code } = toWire(error, context)
        const isReserved = code >= -32768 && code < -32099
        expect(!isReserved || standard.includes(code), error.kind).toBe(true)
      }
    }
  })

  test('is that of MCP with sessions by default', () => {
    const error = errors.resourceNotFound({ uri: 'file:///x' })
    expect(toWire(error)).toEqual(toWire(error, session))
  })
})

describe('the data on the wire', () => {
  test('carry the kind in MCP, including standard errors', () => {
    expect(toWire(errors.toolNotFound({ tool: 'x' }))).toEqual({
      code: -32602,
      message: 'Tool not found: x',
      data: { tool: 'x', kind: 'tool_not_found' },
    })
    expect(toWire(internalError()).data).toEqual({ kind: 'internal_error' })
  })

  test('are unchanged in erlmcp, and omitted if there are none', () => {
    expect(toWire(errors.toolNotFound({ tool: 'x' }), erlmcp)).toEqual({
      code: -32002,
      message: 'Tool not found: x',
      data: { tool: 'x' },
    })
    expect(toWire(errors.notInitialized(), erlmcp)).toEqual({
      code: -32005,
      message: 'Server not initialized',
    })
  })

  test('carry the kind in plain JSON-RPC, except the five standard errors', () => {
    expect(toWire(errors.rateLimited(), jsonrpc).data).toEqual({ kind: 'rate_limited' })
    expect(toWire(methodNotFound('x'), jsonrpc)).toEqual({
      code: -32601,
      message: 'Method not found',
    })
  })

  test.each([
    { name: 'words', data: 'too short' },
    { name: 'a list', data: [1] },
    { name: 'null', data: null },
  ])('keep $name beside the kind', ({ data }) => {
    expect(toWire(invalidParams('No', { data })).data).toEqual({
      details: data,
      kind: 'invalid_params',
    })
  })

  test('of the caller are not modified', () => {
    const data = Object.freeze({ tool: 'x' })
    toWire(errors.toolNotFound(data))
    expect(data).toEqual({ tool: 'x' })
  })

  test('never contain the cause', () => {
    const error = errors.timeout(undefined, { cause: new Error('secret') })
    for (const context of Object.values(contexts)) {
      expect(JSON.stringify(toWire(error, context))).not.toContain('secret')
    }
  })
})

describe('a custom code', () => {
  const own = new RpcError(7, 'Out of tea', { data: { cups: 0 } })

  test.each(['session', 'stateless', 'jsonrpc'] as const)('passes untouched: %s', name => {
    expect(toWire(own, contexts[name])).toEqual({
      code: 7,
      message: 'Out of tea',
      data: { cups: 0 },
    })
  })

  test('becomes -32603 under strict codes, with the original in the data', () => {
    expect(toWire(own, erlmcp)).toEqual({
      code: -32603,
      message: 'Out of tea',
      data: { originalCode: 7, originalData: { cups: 0 } },
    })
  })

  test('is kept in erlmcp if strict codes are off or the error table has the code', () => {
    const loose = profile('erlmcp', { strictErrorCodes: false })
    expect(toWire(own, { profile: loose }).code).toBe(7)
    expect(toWire(new RpcError(-32001, 'Mine'), erlmcp)).toEqual({ code: -32001, message: 'Mine' })
  })

  test.each([
    { code: -32002, sent: -32603 },
    { code: -32042, sent: -32603 },
    { code: -32099, sent: -32603 },
    { code: -32020, sent: -32020 },
    { code: -32021, sent: -32021 },
    { code: -32022, sent: -32022 },
    { code: -32019, sent: -32019 },
    { code: -1, sent: -1 },
  ])('$code is sent as $sent without sessions, and unchanged with them', ({ code, sent }) => {
    const error = new RpcError(code, 'Mine')
    expect(toWire(error, stateless).code).toBe(sent)
    expect(toWire(error, session)).toEqual({ code, message: 'Mine' })
    if (sent !== code) {
      expect(JSON.stringify(toWire(error, stateless).data)).toBe(`{"originalCode":${code}}`)
    }
  })

  test('ignores a kind that is not in the error table', () => {
    const error = new RpcError(-32021, 'Missing capability', { kind: 'missing_capability' })
    expect(toWire(error, stateless)).toEqual({ code: -32021, message: 'Missing capability' })
  })
})

describe('the kind of an error that arrived', () => {
  test.each(Object.entries(contexts))('is the one that was sent: %s', (_, context) => {
    for (const error of samples) {
      const wire = toWire(error, context)
      expect(kindOf(wire, context), error.kind).toBe(error.kind)
    }
  })

  test.each([
    {
      name: 'a resource by its uri',
      code: -32002,
      data: { uri: 'x:y' },
      kind: 'resource_not_found',
    },
    { name: 'a tool by its name', code: -32002, data: { tool: 'x' }, kind: 'tool_not_found' },
    { name: 'a resource, newer', code: -32602, data: { uri: 'x:y' }, kind: 'resource_not_found' },
    { name: 'a tool, newer', code: -32602, data: { tool: 'x' }, kind: 'tool_not_found' },
    { name: 'other params', code: -32602, data: { field: 'x' }, kind: 'invalid_params' },
    { name: 'a uri that is none', code: -32602, data: { uri: 1 }, kind: 'invalid_params' },
    { name: 'no data', code: -32602, data: undefined, kind: 'invalid_params' },
    { name: 'data that are a list', code: -32602, data: ['uri'], kind: 'invalid_params' },
    { name: 'an old number', code: -32001, data: { uri: 'x:y' }, kind: 'resource_not_found' },
    { name: 'a number of no kind', code: -1, data: undefined, kind: undefined },
    {
      name: 'a kind that fits',
      code: -32602,
      data: { kind: 'invalid_cursor' },
      kind: 'invalid_cursor',
    },
    {
      name: 'a kind of a stranger',
      code: -32602,
      data: { kind: 'timeout' },
      kind: 'invalid_params',
    },
    {
      name: 'a kind no one has',
      code: -32603,
      data: { kind: '__proto__' },
      kind: 'internal_error',
    },
  ])('follows from its data: $name', ({ code, data, kind }) => {
    expect(kindOf({ code, data })).toBe(kind)
  })

  test.each([
    {
      code: -32002,
      session: 'resource_not_found',
      stateless: 'resource_not_found',
      erlmcp: 'tool_not_found',
    },
    {
      code: -32001,
      session: 'resource_not_found',
      stateless: undefined,
      erlmcp: 'resource_not_found',
    },
    {
      code: -32022,
      session: 'invalid_uri',
      stateless: 'unsupported_protocol_version',
      erlmcp: 'invalid_uri',
    },
    {
      code: -32021,
      session: 'resource_template_not_found',
      stateless: undefined,
      erlmcp: 'resource_template_not_found',
    },
    {
      code: -32603,
      session: 'internal_error',
      stateless: 'internal_error',
      erlmcp: 'internal_error',
    },
    {
      code: 1092,
      session: 'elicitation_cancelled',
      stateless: 'elicitation_cancelled',
      erlmcp: 'elicitation_cancelled',
    },
  ])('by the code $code alone depends on the sender', row => {
    expect(kindOf({ code: row.code }, session)).toBe(row.session)
    expect(kindOf({ code: row.code }, stateless)).toBe(row.stateless)
    expect(kindOf({ code: row.code }, erlmcp)).toBe(row.erlmcp)
  })
})

test('a uri beside invalid params means a resource only if codes are shared', () => {
  const error = { code: -32602, data: { details: 'no', uri: 'x:y' } }
  expect(kindOf(error, erlmcp)).toBe('invalid_params')
  expect(kindOf(error, session)).toBe('resource_not_found')
})

describe('an error that arrived', () => {
  test('is an RpcError with its category and the received members', () => {
    const data = { uri: 'file:///x' }
    const error = fromWire({ code: -32002, message: 'Gone', data })
    expect(error).toBeInstanceOf(RpcError)
    expect(error).toMatchObject({
      code: -32002,
      message: 'Gone',
      data,
      kind: 'resource_not_found',
      category: 'resource',
      severity: 'error',
    })
  })

  test('has no kind if none is known, and the category unknown', () => {
    expect(fromWire({ code: -1, message: 'User rejected' })).toMatchObject({
      kind: undefined,
      category: 'unknown',
      severity: 'info',
    })
  })

  test('is forwarded to a peer of another profile with the code it has there', () => {
    const received = fromWire(toWire(errors.toolNotFound({ tool: 'x' }), erlmcp), erlmcp)
    expect(toWire(received, stateless)).toEqual({
      code: -32602,
      message: 'Tool not found: x',
      data: { tool: 'x', kind: 'tool_not_found' },
    })
  })
})
