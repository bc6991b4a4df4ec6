import { encodeHeader } from '../../src/mcp/param-headers/encoding.ts'
import type { Asking, Headers } from './raw.ts'

/** The revision without sessions. */
export const stateless = '2026-07-28'
/** The newest revision with sessions. */
export const latest = '2025-11-25'

interface Speaking {
  readonly id?: string | number | null
  readonly meta?: object
  readonly headers?: Headers
}

/** The metadata of a stateless request. */
export const envelope = {
  'io.modelcontextprotocol/protocolVersion': stateless,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Returns a stateless request, with the headers that mirror its body. */
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

/** Returns a stateless tool call. */
export function calling(name: string, given: object = {}, options: Speaking = {}): Asking {
  return speaking('tools/call', { name, arguments: given }, options)
}

/** Returns a request of a session; a notification if there is no id. */
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

/** Returns the `initialize` request that opens a session. */
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
