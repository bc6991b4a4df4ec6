/* node observed-trunkline.js stdio|http KIND: an MCP server that is turned into one of `turnedKinds` and back. */
import { turnedServer } from '../mcp/observed.js'
import { ours } from '../ours.js'
import { idleMs } from './http-listen.js'
import { announce } from './methods.js'

const [wire, kind] = process.argv.slice(2)
const { listen, serve } = await ours('index')
const server = await turnedServer(kind)
if (wire === 'stdio') await serve(server, { argv: [], env: {} })
else {
  const http = { idleTimeoutMs: idleMs }
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', { http })
  announce(new URL(listener.address).port)
}
