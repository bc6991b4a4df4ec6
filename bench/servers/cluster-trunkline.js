/* An MCP server over HTTP that is a node of a cluster; its argument is the address of a Redis. */
import { trunklineServer } from '../mcp/definition-ours.js'
import { ours } from '../ours.js'
import { idleMs } from './http-listen.js'
import { announce } from './methods.js'

const { listen } = await ours('index')
const { redis } = await ours('backplane/redis/index')
const listener = await listen(await trunklineServer(), 'http://127.0.0.1:0/mcp', {
  http: { idleTimeoutMs: idleMs, sessions: { maxSessions: 20_000 } },
  backplane: redis(process.argv[2]),
})
announce(new URL(listener.address).port)
