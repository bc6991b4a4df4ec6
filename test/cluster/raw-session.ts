import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { eventData } from './event-data.ts'

const version = '2025-11-25'

/** Sends a message of a session to a node, and returns the response. */
export function send(address: string, session: string | undefined, message: unknown) {
  return fetch(address, {
    method: 'POST',
    headers: headersOf(session),
    body: JSON.stringify(message),
  })
}

function headersOf(session: string | undefined): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': version,
    ...(session !== undefined && { 'mcp-session-id': session }),
  }
}

/**
 * Sends a message on a connection of its own, so that it fails only if its node does, and not because an idle connection
 * was closed meanwhile. Resolves to the response as JSON; rejects with the error of the connection.
 */
export async function sendAlone(
  address: string,
  session: string,
  message: unknown,
): Promise<{ readonly status: number; readonly message: Reply }> {
  const request = httpRequest(address, {
    method: 'POST',
    headers: headersOf(session),
    agent: false,
  })
  request.end(JSON.stringify(message))
  const [response]: IncomingMessage[] = await once(request, 'response')
  if (response === undefined) throw new Error('no response')
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return { status: response.statusCode ?? 0, message: json(text) }
}

/** Opens a session at a node, and returns its id. */
export async function openSession(address: string, capabilities: object = {}): Promise<string> {
  const response = await send(address, undefined, {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: version, capabilities, clientInfo: { name: 'test', version: '1' } },
  })
  const session = response.headers.get('mcp-session-id')
  if (session === null) throw new Error(`no session: ${response.status} ${await response.text()}`)
  await response.text()
  const ready = await send(address, session, {
    jsonrpc: '2.0',
    method: 'notifications/initialized',
  })
  await ready.text()
  return session
}

/** Calls a tool in a session at a node, and returns the status and the last message of the response. */
export async function callTool(
  address: string,
  session: string,
  name: string,
  args: object = {},
): Promise<{ readonly status: number; readonly message: Reply }> {
  const params = { name, arguments: args }
  const response = await send(address, session, {
    jsonrpc: '2.0',
    id: nextId++,
    method: 'tools/call',
    params,
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  let text = ''
  if (isStream) {
    for await (const data of eventData(response)) text = data
  } else {
    text = await response.text()
  }
  return { status: response.status, message: json(text) }
}

/** The parts of a response that tests look at. */
export interface Reply {
  readonly id?: number
  readonly result?: {
    readonly content?: readonly { readonly text?: string }[]
    readonly isError?: boolean
  }
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: { readonly outcome?: string }
  }
}

/** Opens the standalone stream of a session at a node. */
export function listenTo(address: string, session: string, lastEventId?: string) {
  return fetch(address, {
    headers: {
      accept: 'text/event-stream',
      'mcp-session-id': session,
      'mcp-protocol-version': version,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
  })
}

/** Ends a session at a node, and returns the status. */
export async function endSession(address: string, session: string): Promise<number> {
  const response = await fetch(address, {
    method: 'DELETE',
    headers: { 'mcp-session-id': session, 'mcp-protocol-version': version },
  })
  await response.text()
  return response.status
}

function json(text: string): Reply {
  return text === '' ? {} : JSON.parse(text)
}

let nextId = 1
