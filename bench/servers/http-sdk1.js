/* node http-sdk1.js json|events: the official SDK 1.32 over HTTP, with the only session there is. */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { sdk1Server } from '../mcp/definition-sdk1.js'
import { listenHttp } from './http-listen.js'

const transport = new StreamableHTTPServerTransport({
  sessionIdGenerator: () => randomUUID(),
  enableJsonResponse: process.argv[2] !== 'events',
})
await sdk1Server().connect(transport)
listenHttp(createServer((request, response) => transport.handleRequest(request, response)))
