/*
 * node http-sdk2.js stateless|session json|events: the official SDK 2.4 over HTTP. It has
 * fetch handlers; the adapter to Node is the one that SDK 1.32 uses internally.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import {
  createMcpHandler,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { sdk2Server } from '../mcp/definition-sdk2.js'
import { listenHttp } from './http-listen.js'

const [era, answers] = process.argv.slice(2)

async function session() {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    enableJsonResponse: answers !== 'events',
  })
  await sdk2Server().connect(transport)
  return request => transport.handleRequest(request)
}

function stateless() {
  const handler = createMcpHandler(() => sdk2Server(), {
    legacy: 'reject',
    responseMode: answers === 'events' ? 'sse' : 'json',
  })
  return request => handler.fetch(request)
}

const handle = era === 'session' ? await session() : stateless()
listenHttp(createServer(getRequestListener(handle)))
