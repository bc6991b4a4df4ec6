/*
 * node crowd-sdk2.js stateless|session: the official SDK 2.4, with a server and a transport for each
 * session, or stateless with its own event bus for changes.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import {
  createMcpHandler,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { sdk2Server } from '../mcp/definition-sdk2.js'
import { listenCrowd, most } from './crowd.js'

if (process.argv[2] === 'session') inSessions()
else stateless()

function inSessions() {
  const sessions = new Map()
  const tools = new Set()
  const open = async () => {
    const server = sdk2Server()
    const tool = server.registerTool('sometimes', {}, () => ({ content: [] }))
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: true,
      onsessioninitialized: id => sessions.set(id, transport),
    })
    transport.onclose = () => {
      sessions.delete(transport.sessionId)
      tools.delete(tool)
    }
    tools.add(tool)
    await server.connect(transport)
    return transport
  }
  const handle = async request => {
    const transport = sessions.get(request.headers.get('mcp-session-id')) ?? (await open())
    return transport.handleRequest(request)
  }
  listenCrowd(createServer(getRequestListener(handle)), () => {
    for (const tool of tools) tool.enabled ? tool.disable() : tool.enable()
  })
}

function stateless() {
  const handler = createMcpHandler(() => sdk2Server(), { legacy: 'reject', maxSubscriptions: most })
  const server = createServer(getRequestListener(request => handler.fetch(request)))
  listenCrowd(server, () => handler.notify.toolsChanged())
}
