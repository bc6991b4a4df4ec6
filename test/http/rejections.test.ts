import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fetchHandler, type HttpHandlerOptions, nodeHandler } from '../../src/http/handlers.ts'
import { encodeHeader } from '../../src/mcp/param-headers/encoding.ts'
import { Server } from '../../src/server/server.ts'
import { proves } from '../requirements.ts'
import { type Asking, ask, type Headers, type Reply, written } from './raw.ts'
import { calling, envelope, latest, speaking, stateless } from './requests.ts'

/** Sends the same requests to a server through each of the bindings. */
const bindings = ['node', 'fetch'] as const
type Binding = (typeof bindings)[number]

const options: HttpHandlerOptions = { path: '/mcp', decode: { maxBytes: 2000 } }

function tools(): Server {
  const server = new Server({ name: 'tools', version: '1' }, { onError: () => {} })
  const input = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      count: { type: ['integer', 'null'], 'x-mcp-header': 'Count' },
      where: { type: 'object', properties: { deep: { type: 'boolean', 'x-mcp-header': 'Deep' } } },
    },
  } as const
  server.tool('place', { input }, given => JSON.stringify(given))
  server.tool('plain', {}, () => 'plain')
  server.tool('ask', {}, async (_, ctx) => {
    await ctx.elicit({ message: 'Sure?', schema: { type: 'object', properties: {} } })
    return 'asked'
  })
  server.resource('none', 'x:none', {}, () => '')
  return server
}

async function asker(
  binding: Binding,
  server = tools(),
): Promise<(asking: Asking) => Promise<Reply>> {
  if (binding === 'node') {
    const http = createServer(nodeHandler(server, options))
    await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void http.close().closeAllConnections())
    const bound = http.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    return asking => ask(port, written(port, asking))
  }
  const handler = fetchHandler(server, options)
  return async asking => replyOf(await handler(requestOf(asking)))
}

function requestOf({ method = 'POST', path = '/mcp', headers = {}, body }: Asking): Request {
  const list: [string, string][] = [
    ['host', '127.0.0.1:3000'],
    ['accept', 'application/json, text/event-stream'],
    ['content-type', 'application/json'],
  ]
  const kept = list.filter(([name]) => !(name in headers))
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value ?? []].flat()) kept.push([name, one])
  }
  const hasBody = method !== 'GET' && method !== 'DELETE' && method !== 'OPTIONS'
  return new Request(`http://127.0.0.1:3000${path}`, {
    method,
    headers: kept,
    body: hasBody ? Buffer.from(body ?? '') : undefined,
  })
}

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text()
  const { status } = response
  return { status, headers: new Map(response.headers), text, events: [], json: JSON.parse(text) }
}

/**
 * Each step fixes one error of the step before, and everything that the server checks
 * later is still wrong, so that the responses show the order of the checks.
 */
const good = JSON.stringify({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name: 'place', arguments: { region: 'eu' }, _meta: envelope },
})
const unknownVersion = { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }
const noCapabilities = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }
const body = (method: string, _meta: object, more = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { name: 'x', _meta }, ...more })

const origin = { origin: 'https://evil.test' }
const type = { 'content-type': 'text/plain' }
const accept = { accept: 'image/png' }
const large = ' '.repeat(2001)
type Step = readonly [string, Asking, number, number | undefined]

const ladder: readonly Step[] = [
  [
    'a foreign origin',
    { method: 'PUT', path: '/x', headers: { ...origin, ...type, ...accept }, body: large },
    403,
    -32000,
  ],
  [
    'another path',
    { method: 'PUT', path: '/x', headers: { ...type, ...accept }, body: large },
    404,
    -32000,
  ],
  ['another verb', { method: 'PUT', headers: { ...type, ...accept }, body: large }, 405, -32000],
  ['another media type', { headers: { ...type, ...accept }, body: large }, 415, -32000],
  ['another answer wanted', { headers: accept, body: large }, 406, -32000],
  ['too large', { body: large }, 413, -32012],
  ['no JSON', { body: '{' }, 400, -32700],
  ['no request', { body: body('nope', noCapabilities, { jsonrpc: '1.0' }) }, 400, -32600],
  ['no header of the revision', { body: body('nope', noCapabilities) }, 400, -32020],
  [
    'another revision in the header',
    { headers: { 'mcp-protocol-version': stateless }, body: body('nope', noCapabilities) },
    400,
    -32020,
  ],
  [
    'no capabilities',
    { headers: { 'mcp-protocol-version': '2099-01-01' }, body: body('nope', noCapabilities) },
    400,
    -32602,
  ],
  [
    'an unknown revision',
    { headers: { 'mcp-protocol-version': '2099-01-01' }, body: body('nope', unknownVersion) },
    400,
    -32022,
  ],
  [
    'no method header',
    { headers: { 'mcp-protocol-version': stateless }, body: body('nope', envelope) },
    400,
    -32020,
  ],
  [
    'another method in the header',
    {
      headers: { 'mcp-protocol-version': stateless, 'mcp-method': 'tools/call' },
      body: body('nope', envelope),
    },
    400,
    -32020,
  ],
  [
    'an unknown method',
    {
      headers: { 'mcp-protocol-version': stateless, 'mcp-method': 'nope' },
      body: body('nope', envelope),
    },
    404,
    -32601,
  ],
  [
    'no name header',
    {
      headers: { 'mcp-protocol-version': stateless, 'mcp-method': 'tools/call' },
      body: body('tools/call', envelope),
    },
    400,
    -32020,
  ],
  [
    'an unknown tool',
    {
      headers: { 'mcp-protocol-version': stateless, 'mcp-method': 'tools/call', 'mcp-name': 'x' },
      body: body('tools/call', envelope),
    },
    200,
    -32602,
  ],
  [
    'no argument header',
    {
      headers: {
        'mcp-protocol-version': stateless,
        'mcp-method': 'tools/call',
        'mcp-name': 'place',
      },
      body: good,
    },
    400,
    -32020,
  ],
  ['a capability that is missing', calling('ask'), 400, -32021],
  [
    'nothing at all',
    {
      headers: {
        'mcp-protocol-version': stateless,
        'mcp-method': 'tools/call',
        'mcp-name': 'place',
        'mcp-param-region': 'eu',
      },
      body: good,
    },
    200,
    undefined,
  ],
]

describe.each(bindings)('rejections over %s', binding => {
  test.each(ladder)('%s', async (_, asking, status, code) => {
    proves('N5', 'N8c', 'N8e', 'N15c', 'N19', 'N19b')
    const reply = await (await asker(binding))(asking)
    expect([reply.status, reply.json.error?.code]).toEqual([status, code])
    expect(reply.headers.get('content-type')).toBe('application/json')
  })

  test('another HTTP method gets the allowed ones', async () => {
    const asked = await asker(binding)
    for (const method of ['PUT', 'PATCH']) {
      const reply = await asked({ method })
      expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE'])
    }
  })

  test('a server without sessions accepts POST only', async () => {
    proves('N17')
    const server = new Server({ name: 'x', version: '1' }, { revisions: [stateless] })
    const asked = await asker(binding, server)
    for (const method of ['GET', 'DELETE']) {
      const reply = await asked({ method, headers: { 'mcp-session-id': 'x' } })
      expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  test('an error carries the id of its request if it could be parsed', async () => {
    const asked = await asker(binding)
    for (const id of [0, 'a', 7]) {
      const reply = await asked(speaking('nope', {}, { id }))
      expect(reply.json.id).toBe(id)
    }
    expect((await asked({ body: '{' })).json.id ?? null).toBeNull()
  })
})

describe('headers that mirror the name', () => {
  const rows: readonly (readonly [string, Headers, number])[] = [
    ['as it is', { 'mcp-name': 'plain' }, 200],
    ['with space around it', { 'mcp-name': ' \t plain \t' }, 200],
    ['under a name in another case', { 'mcp-name': undefined, 'MCP-NAME': 'plain' }, 200],
    ['in Base64', { 'mcp-name': '=?base64?cGxhaW4=?=' }, 200],
    ['in Base64 without padding', { 'mcp-name': '=?base64?cGxhaW4?=' }, 400],
    ['in what is no Base64', { 'mcp-name': '=?base64?cGxh*W4=?=' }, 400],
    ['in Base64 of the web', { 'mcp-name': '=?base64?_-8=?=' }, 400],
    ['in Base64 of Base64', { 'mcp-name': encodeHeader(encodeHeader('=?base64?cGxhaW4=?=')) }, 400],
    ['with the marker in capitals', { 'mcp-name': '=?BASE64?cGxhaW4=?=' }, 400],
    ['of something else, in Base64', { 'mcp-name': '=?base64?cGxhaW4h?=' }, 400],
    ['in another case', { 'mcp-name': 'Plain' }, 400],
    ['empty', { 'mcp-name': '' }, 400],
    ['twice', { 'mcp-name': ['plain', 'plain'] }, 400],
    ['of another method', { 'mcp-method': 'tools/list' }, 400],
    ['of the method in another case', { 'mcp-method': 'Tools/Call' }, 400],
    ['of the method twice', { 'mcp-method': ['tools/call', 'tools/call'] }, 400],
  ]

  test.each(rows)('%s', async (_, headers, status) => {
    proves('N11d', 'N11e', 'N14', 'N14b', 'N15')
    const asked = await asker('node')
    const reply = await asked(calling('plain', {}, { headers }))
    expect(reply.status).toBe(status)
    if (status === 400) expect(reply.json.error.code).toBe(-32020)
  })
})

describe.each(bindings)('headers that mirror arguments, over %s', binding => {
  const eu = { region: 'eu' }
  const rows: readonly (readonly [string, object, Headers, number])[] = [
    ['agree', eu, { 'Mcp-Param-Region': 'eu' }, 200],
    ['have names in any case', eu, { 'MCP-PARAM-REGION': 'eu' }, 200],
    ['are not wanted where there is no argument', {}, {}, 200],
    ['are not wanted for null', { count: null }, {}, 200],
    ['may be in Base64', { region: 'é' }, { 'mcp-param-region': encodeHeader('é') }, 200],
    ['say numbers in another way', { count: 42 }, { 'mcp-param-count': '42.0' }, 200],
    ['lie deep', { where: { deep: true } }, { 'mcp-param-deep': 'true' }, 200],
    ['that are unknown are ignored', {}, { 'mcp-param-other': 'x' }, 200],
    ['are missing', eu, {}, 400],
    ['differ', eu, { 'mcp-param-region': 'us' }, 400],
    ['differ in case', eu, { 'mcp-param-region': 'EU' }, 400],
    ['say what the body does not', {}, { 'mcp-param-region': 'eu' }, 400],
    ['are badly encoded', eu, { 'mcp-param-region': '=?base64?ZXU?=' }, 400],
    ['lie deep and differ', { where: { deep: true } }, { 'mcp-param-deep': 'false' }, 400],
  ]

  test.each(rows)('%s', async (_, given, headers, status) => {
    proves('N11e', 'N13b', 'N13c', 'N13d', 'N13e', 'N14', 'N14b', 'N15b')
    const asked = await asker(binding)
    const reply = await asked(calling('place', given, { id: 3, headers }))
    expect([reply.status, reply.json.error?.code, reply.json.id]).toEqual([
      status,
      status === 400 ? -32020 : undefined,
      3,
    ])
  })

  test('belong to stateless requests, not to sessions', async () => {
    const asked = await asker(binding)
    const opened = await asked({
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 0,
        method: 'initialize',
        params: {
          protocolVersion: latest,
          capabilities: {},
          clientInfo: { name: 'x', version: '1' },
        },
      }),
    })
    const call = { name: 'place', arguments: { region: 'eu' } }
    const reply = await asked({
      headers: { 'mcp-session-id': opened.headers.get('mcp-session-id') },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    })
    expect(reply.json.result.content).toHaveLength(1)
  })
})
