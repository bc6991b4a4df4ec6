// Serves the methods of the examples page on stdio, as a program of its own.

import { listen } from '../../dist/index.js'
import { pageMethods } from './methods.js'

// That a notification found no method is meant to happen.
await listen(pageMethods, 'stdio:', { protocol: 'jsonrpc', onError: () => {} })
