/*
 * node router-trunkline.js http|plain-http|stdio [stdio]: a router in front of one server in a separate
 * process, connected over HTTP with a WebSocket, over HTTP only, or over stdio. The router itself is
 * served over HTTP, or on stdio. The tool `router__usage` returns the CPU time of the router.
 */
import { command, startListening } from '../child.js'
import { ownMicros } from '../mcp/tool.js'
import { ours } from '../ours.js'
import { idleMs } from './http-listen.js'
import { announce } from './methods.js'

const [upstream, front = 'http'] = process.argv.slice(2)
const { listen, serve, Server } = await ours('index')
const { Router } = await ours('router/index')

const own = new Server({ name: 'router', version: '1' })
own.tool('usage', {}, () => String(ownMicros()))
const router = new Router({
  servers: { bench: { ...(await server()), prefix: false }, router: own },
})
await router.ready()
if (front === 'stdio') await serve(router, { argv: [], env: {} })
else {
  const http = { idleTimeoutMs: idleMs }
  const listener = await listen(router, 'http://127.0.0.1:0/mcp', { http })
  announce(new URL(listener.address).port)
}

async function server() {
  if (upstream === 'stdio') return command('mcp-trunkline')
  const { port } = await startListening('http-trunkline')
  return { url: `http://127.0.0.1:${port}/mcp`, websocket: upstream === 'http' }
}
