/* The official SDK 1.32: a server and a transport for each session, as it needs. */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { sdk1Server } from '../mcp/definition-sdk1.js'
import { listenCrowd } from './crowd.js'

const sessions = new Map()
const tools = new Set()

async function open() {
  const server = sdk1Server()
  const tool = server.registerTool('sometimes', {}, () => ({ content: [] }))
  const transport = new StreamableHTTPServerTransport({
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

listenCrowd(
  createServer(async (request, response) => {
    const transport = sessions.get(request.headers['mcp-session-id']) ?? (await open())
    await transport.handleRequest(request, response)
  }),
  () => {
    for (const tool of tools) tool.enabled ? tool.disable() : tool.enable()
  },
)
