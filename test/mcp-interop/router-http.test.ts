import { randomUUID } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  McpServer as McpServer2,
} from '@modelcontextprotocol/server'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { connect, listen } from '../../src/index.ts'
import { Router } from '../../src/router/index.ts'
import { Owned } from '../support/channel.ts'

const owned = new Owned()
afterEach(() => owned.closeAll())

const requestedSchema = {
  type: 'object' as const,
  properties: { name: { type: 'string' as const } },
}

/** An official session server, whose tools report progress and elicit. */
function withSessions(): RequestListener {
  const transports = new Map<string, StreamableHTTPServerTransport>()
  const made = (): McpServer => {
    const server = new McpServer({ name: 'official', version: '1.0.0' })
    server.registerTool('greet', { inputSchema: { name: z.string() } }, async ({ name }, extra) => {
      const progressToken = extra._meta?.progressToken
      if (progressToken !== undefined) {
        const params = { progressToken, progress: 1 }
        await extra.sendNotification({ method: 'notifications/progress', params })
      }
      return { content: [{ type: 'text', text: `hello ${name}` }] }
    })
    server.registerTool('ask', {}, async extra => {
      const params = { message: 'Your name?', requestedSchema }
      const { action, content } = await server.server.elicitInput(params, {
        relatedRequestId: extra.requestId,
      })
      return { content: [{ type: 'text', text: `${action} ${content?.name}` }] }
    })
    return server
  }
  return async (request, response) => {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? transports.get(id) : undefined
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: session => void transports.set(session, transport),
      })
    if (known === undefined) await made().connect(transport)
    await transport.handleRequest(request, response)
  }
}

/** An official stateless server, with an argument that travels as a header. */
function withoutSessions(): RequestListener {
  const inputSchema = z.object({ name: z.string().meta({ 'x-mcp-header': 'Name' }) })
  const handler = createMcpHandler(() => {
    const server = new McpServer2({ name: 'official', version: '2.0.0' })
    server.registerTool('greet', { inputSchema }, async ({ name }, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken
      if (progressToken !== undefined) {
        const params = { progressToken, progress: 1 }
        await ctx.mcpReq.notify({ method: 'notifications/progress', params })
      }
      return { content: [{ type: 'text', text: `hello ${name}` }] }
    })
    server.registerTool('ask', {}, async ctx => {
      const given = acceptedContent<{ name: string }>(ctx.mcpReq.inputResponses, 'who')
      if (given !== undefined) {
        return { content: [{ type: 'text', text: `accept ${given.name}` }] }
      }
      const who = inputRequired.elicit({ message: 'Your name?', requestedSchema })
      return inputRequired({ inputRequests: { who } })
    })
    return server
  })
  return getRequestListener(request => handler.fetch(request))
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
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

const kinds = { sessions: withSessions, 'no sessions': withoutSessions }
const rows = (['session', 'stateless'] as const).flatMap(era =>
  (['sessions', 'no sessions'] as const).map(kind => [era, kind] as const),
)

describe('an official server over HTTP behind a router', () => {
  test.each(rows)('is called by a %s client, and has %s', async (era, kind) => {
    const url = await serve(kinds[kind]())
    const router = owned.add(new Router({ servers: { far: { url } }, onError: () => {} }))
    const listener = owned.add(await listen(router, 'http://127.0.0.1:0/mcp'))
    const elicit = () => ({ action: 'accept' as const, content: { name: 'Ada' } })
    const client = owned.add(await connect(listener.address, { era, elicit }))
    const names: string[] = []
    for await (const { name } of client.tools()) names.push(name)
    expect(names).toEqual(['far__greet', 'far__ask'])
    const steps: number[] = []
    const onProgress = ({ progress }: { progress: number }) => void steps.push(progress)
    const greeted = await client.call('far__greet', { name: 'wörld' }, { onProgress })
    expect(greeted.text).toBe('hello wörld')
    expect(steps).toEqual([1])
    expect((await client.call('far__ask')).text).toBe('accept Ada')
    // On separate streams, concurrent server requests are not ambiguous.
    const asked = await Promise.all([1, 2, 3].map(() => client.call('far__ask')))
    expect(asked.map(({ text }) => text)).toEqual(Array(3).fill('accept Ada'))
  })
})
