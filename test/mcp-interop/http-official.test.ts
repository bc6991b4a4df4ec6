import { randomUUID } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, McpServer as McpServer2 } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { connect } from '../../src/index.ts'
import { proves } from '../requirements.ts'
import { Owned } from '../support/channel.ts'

const owned = new Owned()
afterEach(() => owned.closeAll())

/** An official server with a tool that reports progress, and one that elicits. */
function official(): McpServer {
  const server = new McpServer({ name: 'official', version: '1.0.0' })
  server.registerTool('greet', { inputSchema: { name: z.string() } }, async ({ name }, extra) => {
    const progressToken = extra._meta?.progressToken
    if (progressToken !== undefined) {
      const params = { progressToken, progress: 1 }
      await extra.sendNotification({ method: 'notifications/progress', params })
    }
    return { content: [{ type: 'text', text: `hello ${name}` }] }
  })
  server.registerTool('ask', {}, async () => {
    const { action, content } = await server.server.elicitInput({
      message: 'Your name?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    })
    return { content: [{ type: 'text', text: `${action} ${content?.name}` }] }
  })
  return server
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  owned.add({
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise<unknown>(resolve => server.close(resolve))
    },
  })
  // The cast is safe: the server is bound to a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function talk(address: string): Promise<void> {
  const elicit = () => ({ action: 'accept' as const, content: { name: 'Ada' } })
  const client = owned.add(await connect(address, { elicit }))
  expect(client.server.name).toBe('official')
  const steps: number[] = []
  const onProgress = ({ progress }: { progress: number }) => void steps.push(progress)
  expect((await client.call('greet', { name: 'wörld' }, { onProgress })).text).toBe('hello wörld')
  expect(steps).toEqual([1])
  expect((await client.call('ask')).text).toBe('accept Ada')
  const names: string[] = []
  for await (const { name } of client.tools()) names.push(name)
  expect(names).toEqual(['greet', 'ask'])
}

describe('our client and an official server over HTTP', () => {
  test.each([true, false])('with sessions, and JSON alone: %s', async enableJsonResponse => {
    proves('H6b')
    const transports = new Map<string, StreamableHTTPServerTransport>()
    const address = await serve(async (request, response) => {
      const id = request.headers['mcp-session-id']
      const known = typeof id === 'string' ? transports.get(id) : undefined
      const transport =
        known ??
        new StreamableHTTPServerTransport({
          sessionIdGenerator: () => randomUUID(),
          enableJsonResponse,
          onsessioninitialized: session => void transports.set(session, transport),
        })
      if (known === undefined) await official().connect(transport)
      await transport.handleRequest(request, response)
    })
    if (enableJsonResponse) {
      const client = owned.add(await connect(address))
      expect((await client.call('greet', { name: 'x' })).text).toBe('hello x')
    } else await talk(address)
    for (const transport of transports.values()) await transport.close()
  })

  test('with the HTTP+SSE transport', async () => {
    let transport: SSEServerTransport | undefined
    const address = await serve(async (request, response) => {
      if (request.method === 'GET') {
        transport = new SSEServerTransport('/messages', response)
        await official().connect(transport)
      } else if (request.url?.startsWith('/messages')) {
        await transport?.handlePostMessage(request, response)
      } else {
        response.writeHead(404, { 'content-type': 'text/html' }).end('<pre>Cannot POST</pre>')
      }
    })
    await talk(`${address}/sse`)
  })

  test('without sessions, whose tools take arguments as headers', async () => {
    const inputSchema = z.object({
      region: z.string().meta({ 'x-mcp-header': 'Region' }),
      depth: z.number().int().optional(),
    })
    const handler = createMcpHandler(() => {
      const server = new McpServer2({ name: 'official', version: '2.0.0' })
      server.registerTool('where', { inputSchema }, async ({ region }) => ({
        content: [{ type: 'text', text: `in ${region}` }],
      }))
      return server
    })
    const headers: (string | null)[] = []
    const fetch = async (url: URL, init: RequestInit): Promise<Response> => {
      const request = new Request(url, init)
      headers.push(request.headers.get('mcp-param-region'))
      return handler.fetch(request)
    }
    const client = owned.add(await connect('http://localhost/mcp', { http: { fetch } }))
    expect(client.server.revision.era).toBe('stateless')
    // The first call precedes any list, and fetches the schema it needs.
    expect((await client.call('where', { region: 'grün' })).text).toBe('in grün')
    expect((await client.call('where', { region: 'eu' })).text).toBe('in eu')
    expect(headers.filter(value => value !== null)).toEqual(['=?base64?Z3LDvG4=?=', 'eu'])
  })
})
