/* An MCP server over HTTP that verifies JSON Web Tokens with the key set in its argument. */
import { trunklineServer } from '../mcp/definition-ours.js'
import { ours } from '../ours.js'
import { idleMs } from './http-listen.js'
import { announce } from './methods.js'

const { listen } = await ours('index')
const { jwt } = await ours('auth/index')
const { issuer, resource, jwks } = JSON.parse(process.argv[2])
const server = await trunklineServer()
server.tool('heap', {}, () => {
  globalThis.gc()
  return String(process.memoryUsage().heapUsed)
})
const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
  http: { idleTimeoutMs: idleMs },
  trustedProxies: ['127.0.0.1'],
  auth: { resource, verify: jwt({ issuer, jwks }) },
})
announce(new URL(listener.address).port)
