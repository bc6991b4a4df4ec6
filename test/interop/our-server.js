// Our methods on stdio, framed as language servers speak.

import { listen, RpcError } from '../../dist/index.js'
import { ourMethods } from './ours.js'

await listen(ourMethods(RpcError), 'stdio:', {
  protocol: 'jsonrpc',
  framing: 'headers',
  // That a notification found no method is meant to happen.
  onError: () => {},
})
