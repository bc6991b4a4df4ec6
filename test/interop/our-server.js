// Our methods on stdio, with header framing as in the Language Server Protocol.

import { listen, RpcError } from '../../dist/index.js'
import { ourMethods } from './ours.js'

await listen(ourMethods(RpcError), 'stdio:', {
  protocol: 'jsonrpc',
  framing: 'headers',
  // A notification without a method is intended.
  onError: () => {},
})
