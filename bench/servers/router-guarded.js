/* A router over HTTP in front of a server with many tools, which verifies tokens, with or without an access policy. */
import { trunklineServer } from '../mcp/definition-ours.js'
import { name } from '../mcp/tool.js'
import { ours } from '../ours.js'
import { idleMs } from './http-listen.js'
import { announce } from './methods.js'

const { listen } = await ours('index')
const { jwt } = await ours('auth/index')
const { Router } = await ours('router/index')
const { issuer, resource, jwks, tools, policy } = JSON.parse(process.argv[2])
const server = await trunklineServer()
for (let at = 1; at < tools; at++) server.tool(`${name}_${at}`, {}, () => 'done')
// Callers use the names of the server, so that the requests are those of the other benchmarks.
const router = new Router({ servers: { bench: { server, prefix: false } }, policy })
await router.ready()
const listener = await listen(router, 'http://127.0.0.1:0/mcp', {
  http: { idleTimeoutMs: idleMs },
  auth: { resource, verify: jwt({ issuer, jwks }) },
})
announce(new URL(listener.address).port)
