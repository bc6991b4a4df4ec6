/* An MCP server over HTTP, as `listen` serves it. */
import { trunklineServer } from '../mcp/definition-ours.js'
import { ours } from '../ours.js'
import { idleMs } from './http-listen.js'
import { announce } from './methods.js'

const { listen } = await ours('index')
const listener = await listen(await trunklineServer(), 'http://127.0.0.1:0/mcp', {
  http: { idleTimeoutMs: idleMs },
})
announce(new URL(listener.address).port)
