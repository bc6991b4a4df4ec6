import { encodeHeader } from '../../src/mcp/param-headers/encoding.ts'
import type { Asking, Headers } from './raw.ts'

/** The revision without sessions. */
export const stateless = '2026-07-28'
/** The newest one with them. */
export const latest = '2025-11-25'

interface Speaking {
  readonly id?: string | number | null
  readonly meta?: object
  readonly headers?: Headers
}

/** What a request says of itself. */
export const envelope = {
  'io.modelcontextprotocol/protocolVersion': stateless,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A request that speaks for itself, with the headers that repeat it. */
export function speaking(method: string, params: object = {}, options: Speaking = {}): Asking {
  const { id = 1, meta, headers } = options
  const name = Object.entries(params).find(([key]) => ['name', 'uri', 'taskId'].includes(key))?.[1]
  return {
    headers: {
      'mcp-protocol-version': stateless,
      'mcp-method': method,
      'mcp-name': typeof name === 'string' ? encodeHeader(name) : undefined,
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id,
      method,
      params: { ...params, _meta: { ...envelope, ...meta } },
    }),
  }
}

/** A call of a tool that speaks for itself. */
export function calling(name: string, given: object = {}, options: Speaking = {}): Asking {
  return speaking('tools/call', { name, arguments: given }, options)
}

/** A request, or with no id a notification, of a session. */
export function inSession(
  session: string | undefined,
  method: string,
  params: object = {},
  id?: string | number,
): Asking {
  return {
    headers: { 'mcp-session-id': session },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
  }
}

/** What opens a session. */
export function opening(revision = latest): Asking {
  return inSession(
    undefined,
    'initialize',
    {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    },
    0,
  )
}
