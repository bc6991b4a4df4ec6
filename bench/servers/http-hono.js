/*
 * node http-hono.js bare|trunkline: a Hono route that parses JSON, runs the tool without validation and
 * responds with JSON; or the same route with our handler.
 */
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { trunklineServer } from '../mcp/definition-ours.js'
import { answerTo, name, ownMicros } from '../mcp/tool.js'
import { ours } from '../ours.js'
import { listenHttp } from './http-listen.js'

const tools = new Map([
  [name, answerTo],
  ['usage', () => String(ownMicros())],
])

async function bare(c) {
  const { id, params } = await c.req.json()
  const text = tools.get(params.name)(params.arguments)
  return c.json({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })
}

async function mounted() {
  const { fetchHandler } = await ours('http/index')
  const handler = fetchHandler(await trunklineServer())
  return c => handler(c.req.raw)
}

const app = new Hono().post('/mcp', process.argv[2] === 'bare' ? bare : await mounted())
listenHttp(createServer(getRequestListener(app.fetch)))
