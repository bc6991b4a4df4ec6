// Serves the methods of the examples page on stdio, as a separate program.

import { listen } from '../../dist/index.js'
import { pageMethods } from './methods.js'

// A notification without a method is intended.
await listen(pageMethods, 'stdio:', { protocol: 'jsonrpc', onError: () => {} })
