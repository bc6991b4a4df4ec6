// Calls one method of any JSON-RPC server:
//
//   node examples/call.js ADDRESS METHOD [PARAMS] [--framing=lines|length|headers]
//   node examples/call.js tcp://127.0.0.1:4000 sum '[1, 2, 4]'

import { parseArgs } from 'node:util'
import { connect } from 'trunkline'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { framing: { type: 'string' } },
})
const [address, method, params] = positionals

if (method === undefined) {
  console.error('usage: node examples/call.js ADDRESS METHOD [PARAMS] [--framing=NAME]')
  process.exit(2)
}

try {
  const peer = await connect(address, { protocol: 'jsonrpc', framing: values.framing })
  try {
    const result = await peer.call(method, params === undefined ? undefined : JSON.parse(params))
    console.log(JSON.stringify(result, null, 2))
  } finally {
    await peer.close()
  }
} catch (error) {
  console.error(`${error.name} ${error.code ?? ''}: ${error.message}`)
  process.exitCode = 1
}
