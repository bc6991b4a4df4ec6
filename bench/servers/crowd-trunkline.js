/* One server for all clients of both eras, as `listen` serves it. A change takes a tool away, or back. */
import { trunklineServer } from '../mcp/definition-ours.js'
import { ours } from '../ours.js'
import { most, obey } from './crowd.js'
import { idleMs } from './http-listen.js'

const { listen } = await ours('index')
const server = await trunklineServer()
const tool = server.tool('sometimes', {}, () => 'here')
const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
  maxConnections: most,
  http: { idleTimeoutMs: idleMs, maxInFlight: most, sessions: { maxSessions: most } },
})
obey(new URL(listener.address).port, () => (tool.isEnabled ? tool.disable() : tool.enable()))
