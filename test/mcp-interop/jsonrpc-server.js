// Plain JSON-RPC on stdio with just enough of the protocol for the handshake of a raw client.

import { listen, RpcError } from '../../dist/index.js'

const answers = new Map([
  [
    'initialize',
    ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: {},
      serverInfo: { name: 'jsonrpc', version: '1.0.0' },
    }),
  ],
  ['notifications/initialized', () => undefined],
  ['ping', () => ({})],
])

await listen(
  ({ method, params = {} }) => {
    const answer = answers.get(method)
    if (answer === undefined) throw new RpcError(-32601, 'Method not found')
    if (Array.isArray(params)) throw new RpcError(-32602, 'Invalid params')
    return answer(params)
  },
  'stdio:',
  { protocol: 'jsonrpc', profile: 'mcp', peer: { batches: true } },
)
